import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Marked } from 'marked';
import { builtFile } from '../config/built-file.js';
import { toHtmlPage } from './html-page.js';

/** The front page of the guide, which lists the others. */
const FRONT = 'README';

/** The documents in docs/, read at the start and rendered when they are first asked for. */
@Injectable()
export class GuidePages {
  readonly css = readFileSync(builtFile('guide.css'));
  readonly #files = readDocuments();
  readonly #pages = new Map<string, string>();

  /** The HTML of docs/{name}.md; null without such a document. */
  page(name = FRONT): string | null {
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    const markdown = this.#files.get(`${name}.md`)?.toString('utf8');
    if (markdown === undefined) return null;
    const page = toHtmlPage(/^# (.*)$/m.exec(markdown)?.[1] ?? name, render(markdown, posix.dirname(name)));
    this.#pages.set(name, page);
    return page;
  }

  /** A picture of docs/; null without such a file. */
  picture(name: string): Buffer | null {
    return name.endsWith('.png') ? (this.#files.get(name) ?? null) : null;
  }
}

function readDocuments(): ReadonlyMap<string, Buffer> {
  const directory = builtFile('guide/');
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(md|png)$/.test(name),
  );
  return new Map(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(new URL(name, directory))]));
}

/** @param directory of the document in docs/, which its links are relative to */
function render(markdown: string, directory: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        return `<h${depth} id="${toAnchor(text)}">${text}</h${depth}>\n`;
      },
      table({ header, rows }) {
        const toRow = (tag: string, cells: typeof header) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        return `<div class="scroll"><table>${toRow('th', header)}${rows.map((row) => toRow('td', row)).join('')}</table></div>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = toAddress(href, directory);
        return address === null ? text : `<a href="${address}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${toAddress(href, directory) ?? href}" alt="${text}">`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

/** Anchors as code hosts make them, which the documents link to. */
function toAnchor(heading: string): string {
  const text = heading.replace(/<[^>]*>/g, '').replace(/&[a-z]+;/g, '');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

/** A link between documents as one between pages; null for a file that the gateway does not serve. */
function toAddress(href: string, directory: string): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(directory, path);
  if (target.startsWith('..') || !/\.(md|png)$/.test(target)) return null;
  return `/docs/guide/${target.replace(/\.md$/, '')}${anchor === undefined ? '' : `#${anchor}`}`;
}
