import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { HTML, toPageType } from '../http/negotiation.js';
import { GatewayError } from '../problems/gateway-error.js';
import { VERSION } from '../config/version.js';
import { BuiltPage } from './built-page.js';

/** The files that Vite makes; their names contain a hash of their content. */
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

/** The front page: the console for people, and for programs what there is (docs/console.md). */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  constructor(
    private readonly page: BuiltPage,
    private readonly settings: Settings,
  ) {}

  /** The query is the page's own: it holds the view that is shown. */
  @Get()
  front(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const type = toPageType(request.headers.accept);
    reply.header('cache-control', 'no-cache').header('content-type', `${type}; charset=utf-8`);
    if (type === HTML) reply.send(this.page.html);
    else {
      const { mode } = this.settings;
      reply.send(JSON.stringify({ name: 'accounts-gateway', version: VERSION, mode, links: LINKS }));
    }
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const file = this.page.assets.get(name);
    const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (!file || !type) throw new GatewayError('not-found', 'No route has this path.');
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type }).send(file);
  }
}
