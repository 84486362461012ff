import { readdirSync, readFileSync } from 'node:fs';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { builtFile } from '../config/built-file.js';
import { Settings } from '../config/settings.js';
import { HTML, toPageType } from '../http/negotiation.js';
import { GatewayError } from '../problems/gateway-error.js';
import { VERSION } from '../config/version.js';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const LINKS = {
  accounts: '/api/v1/accounts',
  balances: '/api/v1/balances',
  health: '/health',
  problems: '/problems',
  openapi: '/openapi.json',
  docs: '/docs',
};

/**
 * The front page: the console for people, as Vite built it (src/console/web), and for programs what there is
 * (docs/console.md). The files are read at the start: a later build may replace them.
 */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  readonly #html: string;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly #assets: ReadonlyMap<string, Buffer>;

  constructor(private readonly settings: Settings) {
    const html = readFileSync(builtFile('console/index.html'), 'utf8');
    // so that the page shows the sandbox before it has asked anything
    this.#html = html.replace('<html', `<html data-mode="${settings.mode}"`);
    const directory = builtFile('console/assets/');
    this.#assets = new Map(readdirSync(directory).map((name) => [name, readFileSync(new URL(name, directory))]));
  }

  /** The query is the page's own: it holds the view that is shown. */
  @Get()
  front(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const type = toPageType(request.headers.accept);
    reply.header('cache-control', 'no-cache').header('content-type', `${type}; charset=utf-8`);
    if (type === HTML) reply.send(this.#html);
    else {
      const { mode } = this.settings;
      reply.send(JSON.stringify({ name: 'accounts-gateway', version: VERSION, mode, links: LINKS }));
    }
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const file = this.#assets.get(name);
    const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (!file || !type) throw new GatewayError('not-found', 'No route has this path.');
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type }).send(file);
  }
}
