import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';
import { GuidePages } from './guide-pages.js';

const HTML = 'text/html; charset=utf-8';

/** The project's own documents at /docs/guide, and the style of all pages for people but the console. */
@ApiExcludeController()
@Controller('docs')
export class GuideController {
  constructor(private readonly pages: GuidePages) {}

  @Get('guide.css')
  css(@Res() reply: FastifyReply): void {
    send(reply, 'text/css; charset=utf-8', this.pages.css);
  }

  @Get('guide')
  front(@Res() reply: FastifyReply): void {
    send(reply, HTML, this.pages.page());
  }

  /** @param name of a document without its ending, or of a picture */
  @Get('guide/*')
  page(@Param('*') name: string, @Res() reply: FastifyReply): void {
    const picture = this.pages.picture(name);
    if (picture) send(reply, 'image/png', picture);
    else send(reply, HTML, this.pages.page(name));
  }
}

function send(reply: FastifyReply, type: string, body: string | Buffer | null): void {
  if (body === null) throw new GatewayError('not-found', 'The guide has no such page; /docs/guide lists all.');
  reply.headers({ 'content-type': type, 'cache-control': 'public, max-age=300' }).send(body);
}
