import { escapeHtml } from './html-page.js';

const STRING = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\``;
const SLASHES = String.raw`//[^\n]*|/\*[\s\S]*?\*/`;
const HASH = String.raw`(?<=^|\s)#[^\n]*`;
const WORDS =
  'as|async|await|case|catch|class|const|else|export|extends|false|for|from|function|if|import|in|let|new|null|of|return|satisfies|throw|true|try|type|typeof|undefined|while';

/** The start of a comment, by language; other languages are shown as they are. */
const COMMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['ts', 'tsx', 'js', 'jsx', 'json', 'css', 'svelte', 'vue', 'html'].map((name) => [name, SLASHES]),
  ),
  ...Object.fromEntries(['sh', 'bash', 'yaml', 'ini', 'properties', 'nginx', 'dockerfile'].map((name) => [name, HASH])),
};

/** Code as HTML, with comments, strings and keywords marked. */
export function highlight(code: string, language: string): string {
  const comment = COMMENTS[language];
  if (comment === undefined) return escapeHtml(code);
  const words = comment === SLASHES ? `\\b(?:${WORDS})\\b` : '$^';
  const token = new RegExp(`(?<comment>${comment})|(?<string>${STRING})|(?<word>${words})`, 'gm');
  let html = '';
  let end = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(token)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    html += `${escapeHtml(code.slice(end, index))}<span class="code-${kind}">${escapeHtml(text)}</span>`;
    end = index + text.length;
  }
  return html + escapeHtml(code.slice(end));
}
