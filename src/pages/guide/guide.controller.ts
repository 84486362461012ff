import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { readBuiltFiles } from '../../config/build-output.js';
import { FixedDocument, SendFixedDocument, toDocuments } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toHtmlPage, type IndexGroup } from '../html/html-page.js';
import { renderMarkdown, toSections } from '../html/markdown.js';

/** The front page of the guide, which lists the others. */
const FRONT = 'README';
/** The text of the guide, which the script of its pages searches. */
const SEARCH = 'search.json';
const CACHE_CONTROL = 'public, max-age=300';

/** The project's own documents, the style and script of all server-rendered pages, and the package of the client. */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller()
export class GuideController {
  readonly #pages: ReadonlyMap<string, GuidePage>;
  /** Documents by their name in the address. A page is rendered at its first request, which takes milliseconds. */
  readonly #documents: Map<string, FixedDocument>;
  readonly #packages = toDocuments(readBuiltFiles('client'), CACHE_CONTROL);

  constructor() {
    const files = readBuiltFiles('guide');
    this.#documents = toDocuments(files, CACHE_CONTROL);
    const texts = [...files].filter(([file]) => file.endsWith('.md'));
    this.#pages = new Map(texts.map(([file, bytes]) => [file, toPage(file, bytes.toString('utf8'))]));
  }

  @Get('docs/guide')
  front(): FixedDocument {
    return this.document(FRONT);
  }

  /**
   * @param name name of a page without its extension, or of a file that it loads
   * @throws GatewayError not-found
   */
  @Get('docs/guide/*')
  document(@Param('*') name: string): FixedDocument {
    const document = this.#documents.get(name) ?? (name === SEARCH ? this.#toSearch() : this.#render(name));
    if (!document) throw new GatewayError('not-found', 'The guide has no such page; /docs/guide lists all.');
    this.#documents.set(name, document);
    return document;
  }

  /** The client of this version (client/README.md#install). @throws GatewayError not-found, which names the version */
  @Get('client/:name')
  package(@Param('name') name: string): FixedDocument {
    const file = this.#packages.get(name);
    if (file) return file;
    throw new GatewayError('not-found', `This gateway serves ${[...this.#packages.keys()].join(', ')}.`);
  }

  #render(name: string): FixedDocument | undefined {
    const page = this.#pages.get(`${name}.md`);
    if (!page) return undefined;
    const body = renderMarkdown(page.markdown, (file) => this.#find(file));
    const html = toHtmlPage(page.title, name === FRONT ? `<div class="cards">${body}</div>` : body, {
      place: '/docs/guide',
      index: this.#index,
      href: page.href,
    });
    return new FixedDocument(html, { ...PAGE_HEADERS, 'cache-control': CACHE_CONTROL });
  }

  /** Every part of every page: `[{ page, heading, href, text }]`. */
  #toSearch(): FixedDocument {
    const parts = [...this.#pages.values()].flatMap(({ href, title, markdown }) =>
      toSections(markdown).map(({ anchor, ...part }) => ({ page: title, href: `${href}#${anchor}`, ...part })),
    );
    const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': CACHE_CONTROL };
    return new FixedDocument(JSON.stringify(parts), headers);
  }

  /** The pages by task, from the lists on the front page. */
  get #index(): IndexGroup[] {
    const [, ...groups] = (this.#pages.get(`${FRONT}.md`)?.markdown ?? '').split(/^## /m);
    return groups.map((group) => ({
      heading: group.slice(0, group.indexOf('\n')),
      links: [...group.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].flatMap(([, text = '', file = '']) => {
        const page = this.#find(file);
        return page ? [{ href: page.href, text }] : [];
      }),
    }));
  }

  /** The target of a link between documents, which are in `docs/`, in `client/` and above both. */
  #find(link: string): GuidePage | undefined {
    const file = link.replace('../client/README.md', 'client.md').replace('../CHANGELOG.md', 'changelog.md');
    return this.#pages.get(file.replace(/^(?:\.\.\/)?docs\//, ''));
  }
}

type GuidePage = ReturnType<typeof toPage>;

function toPage(file: string, markdown: string) {
  const name = file.replace(/\.md$/, '');
  const title = /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? 'Guide';
  return { href: name === FRONT ? '/docs/guide' : `/docs/guide/${name}`, title, markdown };
}
