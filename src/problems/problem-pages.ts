import { escapeHtml, toHtmlPage } from '../guide/html-page.js';
import { GatewayError } from './gateway-error.js';
import { toProblemDocument, type ProblemDocument } from './problem-document.js';
import { ALL_CODES, isProblemCode, PROBLEMS, type AnyCode, type ProblemCode } from './problem-table.js';

/** /problems: every code. */
export function toListPage(): string {
  const rows = ALL_CODES.map((code) => {
    const { status, owner, title } = PROBLEMS[code];
    const cells = [`<a href="/problems/${code}">${code}</a>`, status ?? '/health', owner, escapeHtml(title)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const head = '<tr><th>Code</th><th>Status</th><th>Who must act</th><th>Meaning</th></tr>';
  return toHtmlPage(
    'Errors',
    `<h1>Errors</h1><div class="scroll" tabindex="0"><table>${head}${rows.join('')}</table></div>`,
  );
}

/** /problems/{code}: the explanation of one code. */
export function toCodePage(code: AnyCode): string {
  const { title } = PROBLEMS[code];
  return toHtmlPage(title, `<h1>${escapeHtml(title)}</h1>${explain(code)}`);
}

/** The page of a browser navigation that failed, with what its problem document has. */
export function toFailurePage({ status, detail, instance, code, owner, requestId }: ProblemDocument): string {
  const { title } = PROBLEMS[code];
  const facts = `<p>${escapeHtml(detail)}</p>
<p class="quiet"><code>${escapeHtml(instance)}</code> answered ${status}. Who must act: <b>${owner}</b>. Request id: <code>${escapeHtml(requestId)}</code></p>`;
  return toHtmlPage(title, `<h1>${escapeHtml(title)}</h1>${facts}${explain(code)}`);
}

function explain(code: AnyCode): string {
  const { status, owner, when, remedy } = PROBLEMS[code];
  const sections: [string, string][] = [
    ['When', mark(when)],
    ['For the operator', owner === 'caller' ? 'Nothing to do, unless a setting is named below.' : mark(remedy)],
    ["For the app's developer", forDeveloper(code)],
    ['Safe to retry?', retryAdvice(code)],
  ];
  const shown = sections.map(([heading, text]) => `<h2>${heading}</h2><p>${text}</p>`).join('\n');
  const example = isProblemCode(code)
    ? `<h2>What your app gets</h2><pre tabindex="0"><code>${escapeHtml(toExample(code))}</code></pre>`
    : '';
  const query = `jq -c 'select(.code == "${code}")' gateway.log`;
  return `<p><code>${code}</code> · ${status === null ? 'only in /health' : `status ${status}`} · who must act: <b>${owner}</b></p>
${shown}
${example}
<h2>Find it in the log</h2><pre tabindex="0"><code>${escapeHtml(query)}</code></pre>
<p><a href="/problems">All errors</a> · <a href="/docs/guide/troubleshooting">Troubleshooting</a> · <a href="/">Console</a></p>`;
}

function forDeveloper(code: AnyCode): string {
  const { status, owner, remedy } = PROBLEMS[code];
  if (status === null) return 'Nothing to do. Your app gets no error because of this.';
  if (owner === 'caller') return mark(remedy);
  return `Your request is correct. Show your users that accounts are unavailable, and show them <code>requestId</code>. Who must act: <b>${owner}</b>.`;
}

function retryAdvice(code: AnyCode): string {
  const { status, owner } = PROBLEMS[code];
  if (status === null) return 'There is nothing to retry.';
  if (status === 503) return 'Yes, after the seconds in <code>Retry-After</code>.';
  if (status === 408 || code === 'not-cached') return 'Yes. A GET changes nothing.';
  if (owner === 'caller') return 'Safe, but useless: the same request gets the same response.';
  return 'Yes, a GET changes nothing. Retry after 30 seconds or more: it succeeds once the problem is solved.';
}

function toExample(code: ProblemCode): string {
  const document = toProblemDocument(
    new GatewayError(code, '…'),
    '/api/v1/accounts',
    '29da4ff4-3b8a-4f58-9f0a-9d24d74c755a',
  );
  return JSON.stringify(document, null, 2);
}

/** Renders text between backticks as code. */
const mark = (text: string): string => escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
