import { readFileSync } from 'node:fs';
import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { FixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toHtmlPage, type IndexGroup } from '../html/html-page.js';
import { renderMarkdown } from '../html/markdown.js';
import { SendFixedDocument } from '../html/send-fixed-document.js';

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
    const type = PICTURES[name.slice(name.lastIndexOf('.') + 1)];
    const picture = type === undefined ? undefined : this.#files.get(name);
    if (type && picture) return new FixedDocument(picture, { 'content-type': type, ...CACHE_CONTROL });
    const markdown = this.#read(`${name}.md`);
    if (markdown === null) return undefined;
    const body = renderMarkdown(markdown, (file) => this.#find(file));
    const href = toHref(name);
    const page = toHtmlPage(titleOf(markdown), name === FRONT ? `<div class="cards">${body}</div>` : body, {
      place: '/docs/guide',
      index: this.#index,
      href,
    });
    return new FixedDocument(page, { ...PAGE_HEADERS, ...CACHE_CONTROL });
  }

  /** The pages by task, from the lists of the front page. */
  get #index(): IndexGroup[] {
    const [, ...groups] = (this.#read(`${FRONT}.md`) ?? '').split(/^## /m);
    return groups.map((group) => ({
      heading: group.slice(0, group.indexOf('\n')),
      links: [...group.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].flatMap(([, text = '', file = '']) => {
        const page = this.#find(file);
        return page ? [{ href: page.href, text }] : [];
      }),
    }));
  }

  #find(file: string): { href: string; title: string } | null {
    const name = file.replace('../client/README.md', 'client.md').replace('../CHANGELOG.md', 'changelog.md');
    if (!this.#files.has(name)) return null;
    const markdown = name.endsWith('.md') ? this.#read(name) : null;
    return { href: toHref(name.replace(/\.md$/, '')), title: markdown === null ? name : titleOf(markdown) };
  }

  #read(file: string): string | null {
    return this.#files.get(file)?.toString('utf8') ?? null;
  }
}

const PICTURES: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' };

const toHref = (name: string): string => (name === FRONT ? '/docs/guide' : `/docs/guide/${name}`);

const titleOf = (markdown: string): string => /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? 'Guide';
