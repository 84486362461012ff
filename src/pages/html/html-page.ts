const NAVIGATION = [
  ['/', 'accounts-gateway'],
  ['/docs', 'API'],
  ['/docs/guide', 'Guide'],
  ['/problems', 'Errors'],
] as const;

/** A page for people in the style of the console: `body` is HTML. It loads /docs/guide.css and runs no script. */
export function toHtmlPage(title: string, body: string): string {
  const links = NAVIGATION.map(([path, name]) => `<a href="${path}">${name}</a>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} – accounts-gateway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guide.css">
</head>
<body>
<nav aria-label="accounts-gateway">${links}</nav>
<main>
${body}
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
