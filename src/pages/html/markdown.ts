import { Marked } from 'marked';
import { escapeHtml } from './html-page.js';

/** Target of a link between documents, and the title of that page; undefined for a file that is not served. */
export type FindPage = (file: string) => { readonly href: string; readonly title: string } | undefined;

/** A longer code span may wrap. */
const MAX_UNBROKEN = 40;

/** Renders a document of this project as HTML. Links to files that are not served become plain text. */
export function renderMarkdown(markdown: string, findPage: FindPage = () => undefined): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        return `<h${depth} id="${toAnchor(text)}">${text}</h${depth}>\n`;
      },
      link({ href, text, tokens }) {
        const [file = ''] = href.split('#');
        const isOwn = !/^(https?:|#|\/)/.test(href);
        const page = isOwn ? findPage(file) : undefined;
        // readers of the guide know titles, not files
        const shown = page && /^[\w./-]+\.md$/.test(text) ? escapeHtml(page.title) : this.parser.parseInline(tokens);
        if (isOwn && !page) return shown;
        return `<a href="${page ? href.replace(file, page.href) : href}">${shown}</a>`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
      },
      codespan({ text }) {
        return `<code${text.length > MAX_UNBROKEN ? ' class="long"' : ''}>${escapeHtml(text)}</code>`;
      },
      checkbox({ checked }) {
        return checked ? '☑ ' : '☐ ';
      },
      image({ href, text }) {
        return `<img src="/docs/guide/${href}" alt="${escapeHtml(text)}">`;
      },
    },
  });
  // tables wider than the screen scroll, also by keyboard
  return marked
    .parse(markdown, { async: false })
    .replaceAll(/<table>.*?<\/table>/gs, '<div class="scroll" tabindex="0">$&</div>');
}

/** A part of a document, up to the next heading. */
export interface Section {
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

/** The parts of a document, for its search. */
export function toSections(markdown: string): Section[] {
  const sections: { heading: string; anchor: string; text: string }[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading') {
      const heading = String(token['text']).replaceAll('`', '');
      sections.push({ heading, anchor: toAnchor(heading), text: '' });
    }
    const last = sections.at(-1);
    if (last) last.text += token.raw;
  }
  return sections;
}

/** Anchors in the form that code hosts derive from headings, for links between documents. */
export function toAnchor(heading: string): string {
  const text = heading.replace(/<[^>]*>/g, '').replace(/&[#\w]+;/g, '');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}
