import { escapeHtml } from '../html/escape-html.js';
import { toHtmlPage } from '../html/html-page.js';
import type { ProblemDocument } from '../../errors/problem-document.js';
import { RUNBOOKS } from './runbook.js';
import { ALL_CODES, PROBLEMS, type AnyCode, type Owner } from '../../errors/problem-table.js';

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
    '/problems',
  );
}

/** /problems/{code}: the explanation of one code. */
export function toCodePage(code: AnyCode): string {
  const { title, owner } = PROBLEMS[code];
  return toHtmlPage(title, `<h1>${escapeHtml(title)}</h1>${explain(code, owner)}`, '/problems');
}

/** The page of a browser navigation that failed, with what its problem document has. */
export function toFailurePage({ title, status, detail, instance, code, owner, requestId }: ProblemDocument): string {
  const facts = `<p>${escapeHtml(detail)}</p>
<p class="quiet"><code>${escapeHtml(instance)}</code> answered ${status}. Request id: <code>${escapeHtml(requestId)}</code></p>`;
  return toHtmlPage(title, `<h1>${escapeHtml(title)}</h1>${facts}${explain(code, owner)}`);
}

function explain(code: AnyCode, owner: Owner): string {
  const { status, when } = PROBLEMS[code];
  const { steps, over } = RUNBOOKS[code];
  return `<p><code>${code}</code> · ${status === null ? 'only in /health' : `status ${status}`} · who must act: <b>${owner}</b></p>
<h2>When</h2><p>${mark(when)}</p>
<h2>What to do</h2><ol>${steps.map((step) => `<li>${mark(step)}</li>`).join('')}</ol>
<h2>Contact</h2><p>${mark(CALL[owner])}</p>
<h2>How to verify the fix</h2><p>${mark(over)}</p>
<p><a href="/problems">All errors</a> · <a href="/docs/guide/troubleshooting">Troubleshooting</a> · <a href="/">Status</a></p>`;
}

const CALL: Readonly<Record<Owner, string>> = {
  bank: "The bank's service desk. The status page shows how to reach it, if `BANK_SUPPORT` is set.",
  network: 'The team that runs DNS, firewall and proxy between this machine and the bank.',
  operator: 'Whoever runs this gateway: its settings, its certificate, its machine.',
  caller: 'The team of the app that made the call.',
};

/** Renders text between backticks as code. */
const mark = (text: string): string => escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
