import { readFileSync } from 'node:fs';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { FixedDocument } from '../../representation/fixed-document.js';

/** Allows only the page's own files and calls to this origin, and nothing that turns text into markup or script. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
};

/** The console page, as Vite built it (src/pages/console/web). The files are read at the start: a later build may replace them. */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  readonly #page: FixedDocument;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly #assets = new Map([...readBuiltFiles('console/assets')].map(([name, file]) => [name, toAsset(name, file)]));

  constructor(settings: Settings) {
    const html = readFileSync(builtFile('console/index.html'), 'utf8');
    // so that the page shows the sandbox before it has asked anything
    this.#page = new FixedDocument(html.replace('<html', `<html data-mode="${settings.mode}"`), PAGE_HEADERS);
  }

  /** The query is the page's own: it holds the view that is shown. */
  @Get()
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Buffer {
    return this.#page.answer(request, reply);
  }

  /** @throws GatewayError not-found */
  @Get('assets/:name')
  asset(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer {
    const asset = this.#assets.get(name);
    if (!asset) throw new GatewayError('not-found', 'No route has this path.');
    return asset.answer(request, reply);
  }
}

function toAsset(name: string, file: Buffer): FixedDocument {
  const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`MEDIA_TYPES has no type for ${name}`);
  return new FixedDocument(file, { 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type });
}
