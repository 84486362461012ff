import { escapeHtml } from './escape-html.js';
import { ICON, toPageHeader, type Place } from './page-header.js';

/**
 * A page for people in the style of the console: `body` is HTML. It loads /docs/guide.css and /docs/page.js.
 * @param place of the page in the header's links; null for a page that has none
 */
export function toHtmlPage(title: string, body: string, place: Place | null = null): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Accounts gateway</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/docs/guide.css">
<script type="module" src="/docs/page.js"></script>
</head>
<body class="document">
${toPageHeader(place)}
<main id="main" tabindex="-1">
${body}
</main>
</body>
</html>
`;
}
