import { posix } from 'node:path';
import { Marked } from 'marked';
import { drawDiagram } from './diagram.js';

/** Renders a document of this project as HTML. @param directory of the document in docs/, which its links are relative to */
export function renderMarkdown(markdown: string, directory = ''): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        return `<h${depth} id="${toAnchor(text)}">${text}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = toAddress(href, directory);
        return address === null ? text : `<a href="${address}">${text}</a>`;
      },
      code({ text, lang }) {
        // false: as any other code
        return (lang === 'mermaid' && drawDiagram(text)) || false;
      },
      image({ href, text }) {
        return `<img src="${toAddress(href, directory) ?? href}" alt="${text}">`;
      },
    },
  });
  // code and tables wider than the screen scroll, with the keyboard too
  return marked
    .parse(markdown, { async: false })
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll(/<table>.*?<\/table>/gs, '<div class="scroll" tabindex="0">$&</div>');
}

/** Anchors as code hosts make them, which the documents link to. */
function toAnchor(heading: string): string {
  const text = heading.replace(/<[^>]*>/g, '').replace(/&[a-z]+;/g, '');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

/** Converts a link between documents to a link between pages; null for a file that the gateway does not serve. */
function toAddress(href: string, directory: string): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(directory, path);
  if (target.startsWith('..') || !/\.(md|png)$/.test(target)) return null;
  return `/docs/guide/${target.replace(/\.md$/, '')}${anchor === undefined ? '' : `#${anchor}`}`;
}
