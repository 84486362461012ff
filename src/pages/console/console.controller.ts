import { readFileSync } from 'node:fs';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';

/** Allows only the page's own files and calls to this origin, and nothing that turns text into markup or script. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** The console page, as Vite built it (src/pages/console/web). The files are read at the start: a later build may replace them. */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  readonly #html: string;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly #assets = readBuiltFiles('console/assets');

  constructor(settings: Settings) {
    const html = readFileSync(builtFile('console/index.html'), 'utf8');
    // so that the page shows the sandbox before it has asked anything
    this.#html = html.replace('<html', `<html data-mode="${settings.mode}"`);
  }

  /** The query is the page's own: it holds the view that is shown. */
  @Get()
  page(@Res() reply: FastifyReply): void {
    reply
      .headers({
        'cache-control': 'no-cache',
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': CONTENT_SECURITY_POLICY,
      })
      .send(this.#html);
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const file = this.#assets.get(name);
    const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (!file || !type) throw new GatewayError('not-found', 'No route has this path.');
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type }).send(file);
  }
}
