import { ICON, toPageEnd, toPageHeader, type Place } from './page-header.js';

/** Links of the index at the side of a page, below a heading. */
export interface IndexGroup {
  readonly heading: string;
  readonly links: readonly { readonly href: string; readonly text: string }[];
}

interface Options {
  /** Position of the page in the header's links; null for a page without one. */
  readonly place?: Place | null;
  readonly index?: readonly IndexGroup[];
  /** Its own address in the index, for "previous" and "next". */
  readonly href?: string;
}

/** A page for people in the style of the console: `body` is HTML. It loads /docs/guide/page.css and /docs/guide/page.js. */
export function toHtmlPage(title: string, body: string, { place = null, index = [], href = '' }: Options = {}): string {
  const contents = toContents(body);
  const groups = index.map(({ heading, links }) => `<p>${heading}</p>${links.map(toLink(href, contents)).join('')}`);
  const side = groups.length > 0 ? `<nav class="index" aria-label="Index" tabindex="0">${groups.join('')}</nav>` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Accounts gateway</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/docs/guide/page.css">
<script type="module" src="/docs/guide/page.js"></script>
</head>
<body class="document">
${toPageHeader(place)}
<div class="layout">
${side}
<main id="main" tabindex="-1">
${body}
${toNeighbors(index, href)}
</main>
</div>
${toPageEnd()}
</body>
</html>
`;
}

/** Links to the sections of a page. */
function toContents(body: string): string {
  const sections = [...body.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(
    ([, id, heading = '']) => `<li><a href="#${id}">${heading.replaceAll(/<[^>]*>/g, '')}</a></li>`,
  );
  return sections.length > 1 ? `<ul>${sections.join('')}</ul>` : '';
}

/** A link of the index. The link to the current page has its contents. */
const toLink =
  (current: string, contents: string) =>
  ({ href, text }: IndexGroup['links'][number]): string =>
    href === current
      ? `<a href="${href}" aria-current="page">${escapeHtml(text)}</a>${contents}`
      : `<a href="${href}">${escapeHtml(text)}</a>`;

/** Links to the previous and next page; empty for a page that is not in the index. */
function toNeighbors(index: readonly IndexGroup[], href: string): string {
  const links = index.flatMap((group) => group.links);
  const at = links.findIndex((link) => link.href === href);
  if (at === -1) return '';
  const [before, after] = [links[at - 1], links[at + 1]];
  const previous = before ? `<a rel="prev" href="${before.href}">← ${escapeHtml(before.text)}</a>` : '<span></span>';
  const next = after ? `<a rel="next" href="${after.href}">${escapeHtml(after.text)} →</a>` : '';
  return `<nav class="neighbors" aria-label="Previous and next page">${previous}${next}</nav>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for HTML, including attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
