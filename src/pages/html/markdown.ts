import { Marked } from 'marked';
import { drawDiagram } from './diagram.js';

/** Renders a document of this project as HTML. Links to files of docs/ that are not served become plain text. */
export function renderMarkdown(markdown: string, isServed: (file: string) => boolean = () => false): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        return `<h${depth} id="${toAnchor(text)}">${text}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = toAddress(href, isServed);
        return address === null ? text : `<a href="${address}">${text}</a>`;
      },
      code({ text, lang }) {
        // false renders it as any other code
        return (lang === 'mermaid' && drawDiagram(text)) || false;
      },
      checkbox({ checked }) {
        return checked ? '☑ ' : '☐ ';
      },
      image({ href, text }) {
        return `<img src="${toAddress(href, isServed) ?? href}" alt="${text}">`;
      },
    },
  });
  // code and tables wider than the screen scroll, with the keyboard too
  return marked
    .parse(markdown, { async: false })
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll(/<table>.*?<\/table>/gs, '<div class="scroll" tabindex="0">$&</div>');
}

/** Anchors as code hosts derive them from headings, for links between documents. */
export function toAnchor(heading: string): string {
  const text = heading.replace(/<[^>]*>/g, '').replace(/&[a-z]+;/g, '');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

/** Converts a link between documents to a link between pages; null for a file that the gateway does not serve. */
function toAddress(href: string, isServed: (file: string) => boolean): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  if (!isServed(file)) return null;
  return `/docs/guide/${file.replace(/\.md$/, '')}${anchor === undefined ? '' : `#${anchor}`}`;
}
