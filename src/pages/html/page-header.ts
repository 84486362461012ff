/** The pages for people, in the order of the header. */
const PAGES = [
  ['/', 'Status'],
  ['/accounts', 'Accounts'],
  ['/docs', 'API'],
  ['/docs/guide', 'Guide'],
  ['/problems', 'Errors'],
] as const;

export type Place = (typeof PAGES)[number][0];

/** The icon of every page. The live pages give it the color of the status. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1b2638"/><path d="M5 8.4l2.1 2.1L11.2 6" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`;

/** The header of every page, as HTML. A script fills in the facts (src/pages/console/web/shared/page-header.ts). */
export function toPageHeader(place: Place | null): string {
  const links = PAGES.map(
    ([path, name]) =>
      `<a href="${path}" data-name="${name}"${path === place ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="house" href="/">Accounts gateway</a>
<span class="environment" data-fact="environment"></span>
<span class="gateway" data-fact="gateway"></span>
<nav aria-label="Pages">${links.join('')}</nav>
<time class="clock" data-fact="clock"></time>
</header>`;
}

/** The sandbox banner: shown at the top, but last in keyboard order. */
export const toPageEnd = (): string =>
  '<aside id="sandbox" class="sandbox" aria-label="Sandbox"><p><strong>Sandbox</strong> Made-up accounts.</p></aside>';
