import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Injectable } from '@nestjs/common';
import { builtFile } from '../config/built-file.js';
import { toHtmlPage } from './html-page.js';
import { renderMarkdown } from './markdown.js';

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
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? name;
    const page = toHtmlPage(title, renderMarkdown(markdown, posix.dirname(name)));
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
  return new Map(names.map((name) => [name, readFileSync(new URL(name, directory))]));
}
