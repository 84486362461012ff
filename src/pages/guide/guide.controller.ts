import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toHtmlPage } from '../html/html-page.js';
import { renderMarkdown } from '../html/markdown.js';

/** The front page of the guide, which lists the others. */
const FRONT = 'README';

/**
 * The project's own documents at /docs/guide, and the style and script of all pages that the server renders.
 */
@ApiExcludeController()
@Controller('docs')
export class GuideController {
  readonly #css = readFileSync(builtFile('guide.css'));
  readonly #script = readFileSync(builtFile('guide.js'));
  /** The documents and pictures of docs/. */
  readonly #files = readBuiltFiles('guide');
  /** The documents as HTML: rendering one takes milliseconds, and many calls at once must not hold up the others. */
  readonly #pages = new Map<string, string>();

  @Get('guide.css')
  css(@Res() reply: FastifyReply): void {
    send(reply, { 'content-type': 'text/css; charset=utf-8' }, this.#css);
  }

  @Get('page.js')
  script(@Res() reply: FastifyReply): void {
    send(reply, { 'content-type': 'text/javascript; charset=utf-8' }, this.#script);
  }

  @Get('guide')
  front(@Res() reply: FastifyReply): void {
    this.page(FRONT, reply);
  }

  /** @param name of a document without its ending, or of a picture */
  @Get('guide/*')
  page(@Param('*') name: string, @Res() reply: FastifyReply): void {
    if (name.endsWith('.png')) send(reply, { 'content-type': 'image/png' }, this.#files.get(name));
    else send(reply, PAGE_HEADERS, this.#render(name));
  }

  /** The HTML of docs/{name}.md; undefined without such a document. */
  #render(name: string): string | undefined {
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    const markdown = this.#files.get(`${name}.md`)?.toString('utf8');
    if (markdown === undefined) return undefined;
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? name;
    const page = toHtmlPage(title, renderMarkdown(markdown, posix.dirname(name)), '/docs/guide');
    this.#pages.set(name, page);
    return page;
  }
}

function send(reply: FastifyReply, headers: Readonly<Record<string, string>>, body: string | Buffer | undefined): void {
  if (body === undefined) throw new GatewayError('not-found', 'The guide has no such page; /docs/guide lists all.');
  reply.headers({ ...headers, 'cache-control': 'public, max-age=300' }).send(body);
}
