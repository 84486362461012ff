import type { Health } from '../shared/health.js';
import { fillPageHeader, startClock } from '../shared/page-header.js';
import { setServerTime } from '../shared/time.js';
import { toClipboard } from '../shared/to-clipboard.js';
import { findParts, type Part } from './find-parts.js';

/** The gateway's address in the commands of the documents. */
const WRITTEN = /http:\/\/(?:localhost|127\.0\.0\.1):3000/g;
const SHOWN_MS = 2000;

// the script of the server-rendered pages: documents, reference, errors
startClock();
void showGateway();
showOwnAddress();
addCopyButtons();
addSearch();

/** Facts about this gateway. A caller without access to them sees the page without them. */
async function showGateway(): Promise<void> {
  const response = await fetch('/health', { headers: { 'X-Client-Name': 'console' } });
  setServerTime(response.headers.get('Date'));
  const body = (await response.json()) as Partial<Health>;
  if (body.details) fillPageHeader(body as Health);
}

/** Replaces the example address in commands and links with this page's address. */
function showOwnAddress(): void {
  for (const written of document.querySelectorAll('main :is(code, a)')) {
    if (written instanceof HTMLAnchorElement) written.href = written.href.replace(WRITTEN, location.origin);
    for (const node of written.childNodes) {
      if (node instanceof Text) node.data = node.data.replaceAll(WRITTEN, location.origin);
    }
  }
}

function addCopyButtons(): void {
  for (const pre of document.querySelectorAll<HTMLElement>('main pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const done = await toClipboard(pre.textContent ?? '');
      button.textContent = done ? 'Copied' : 'Copying is blocked';
      window.setTimeout(() => (button.textContent = 'Copy'), SHOWN_MS);
    });
    const box = document.createElement('div');
    box.className = 'copyable';
    pre.replaceWith(box);
    box.append(button, pre);
  }
}

/** A search above the guide's index. */
function addSearch(): void {
  const index = document.querySelector('.index');
  if (!index || !location.pathname.startsWith('/docs/guide')) return;
  const field = document.createElement('input');
  field.type = 'search';
  field.placeholder = 'Search the guide';
  field.ariaLabel = 'Search the guide';
  const results = document.createElement('div');
  results.className = 'found';
  results.role = 'status';
  let parts: Promise<Part[]> | undefined;
  field.addEventListener('input', async () => {
    parts ??= fetch('/docs/guide/search.json').then((response) => response.json() as Promise<Part[]>);
    const found = findParts(await parts, field.value);
    const links = found.map(({ page, heading, href }) => {
      const link = document.createElement('a');
      link.href = href;
      link.textContent = heading === page ? page : `${page}: ${heading}`;
      return link;
    });
    const none = field.value.trim() === '' ? '' : 'Nothing found.';
    results.replaceChildren(...(links.length > 0 ? links : [none]));
  });
  index.prepend(field, results);
}
