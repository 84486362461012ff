import { readFileSync } from 'node:fs';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';

const LIVE_PAGE_HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** The live pages, as Vite built them (src/pages/console/web). The files are read at the start: a later build may replace them. */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  readonly #status: string;
  readonly #accounts: string;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly #assets = readBuiltFiles('console/assets');

  constructor({ mode }: Settings) {
    this.#status = readPage('index.html', mode);
    this.#accounts = readPage('accounts.html', mode);
  }

  @Get()
  status(@Res() reply: FastifyReply): void {
    reply.headers(LIVE_PAGE_HEADERS).send(this.#status);
  }

  /** The query is the page's own: it holds the view that is shown. */
  @Get('accounts')
  accounts(@Res() reply: FastifyReply): void {
    reply.headers(LIVE_PAGE_HEADERS).send(this.#accounts);
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const file = this.#assets.get(name);
    const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (!file || !type) throw new GatewayError('not-found', 'No route has this path.');
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type }).send(file);
  }
}

/** A page that says that it shows the sandbox before it has asked anything. */
const readPage = (name: string, mode: Settings['mode']): string =>
  readFileSync(builtFile(`console/${name}`), 'utf8').replace('<html', `<html data-mode="${mode}"`);
