import { readFileSync } from 'node:fs';
import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { FixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toHtmlPage } from '../html/html-page.js';
import { renderMarkdown } from '../html/markdown.js';
import { SendFixedDocument } from '../send-fixed-document.js';

/** The front page of the guide, which lists the others. */
const FRONT = 'README';

const CACHE_CONTROL = { 'cache-control': 'public, max-age=300' };

/**
 * The project's own documents at /docs/guide, and the style and script of all pages that the server renders.
 */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller('docs')
export class GuideController {
  readonly #css = new FixedDocument(readFileSync(builtFile('guide.css')), {
    'content-type': 'text/css; charset=utf-8',
    ...CACHE_CONTROL,
  });
  readonly #script = new FixedDocument(readFileSync(builtFile('guide.js')), {
    'content-type': 'text/javascript; charset=utf-8',
    ...CACHE_CONTROL,
  });
  /** The documents and pictures of docs/, without those that only developers need. */
  readonly #files = readBuiltFiles('guide');
  /** What was asked for: rendering a document takes milliseconds, and many calls at once must not hold up the others. */
  readonly #pages = new Map<string, FixedDocument>();

  @Get('guide.css')
  css(): FixedDocument {
    return this.#css;
  }

  @Get('page.js')
  script(): FixedDocument {
    return this.#script;
  }

  @Get('guide')
  front(): FixedDocument {
    return this.page(FRONT);
  }

  /**
   * @param name of a document without its ending, or of a picture
   * @throws GatewayError not-found
   */
  @Get('guide/*')
  page(@Param('*') name: string): FixedDocument {
    const page = this.#pages.get(name) ?? this.#open(name);
    if (!page) throw new GatewayError('not-found', 'The guide has no such page; /docs/guide lists all.');
    this.#pages.set(name, page);
    return page;
  }

  /** The picture, or the HTML of docs/{name}.md; undefined without one. */
  #open(name: string): FixedDocument | undefined {
    const picture = name.endsWith('.png') ? this.#files.get(name) : undefined;
    if (picture) return new FixedDocument(picture, { 'content-type': 'image/png', ...CACHE_CONTROL });
    const markdown = this.#files.get(`${name}.md`)?.toString('utf8');
    if (markdown === undefined) return undefined;
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? name;
    const page = toHtmlPage(
      title,
      renderMarkdown(markdown, (file) => this.#files.has(file)),
      '/docs/guide',
    );
    return new FixedDocument(page, { ...PAGE_HEADERS, ...CACHE_CONTROL });
  }
}
