import type { ProblemDocument } from '../../errors/problem-document.js';
import { ALL_CODES, PROBLEMS, remedyOf, type AnyCode, type Owner, type Problem } from '../../errors/problem-table.js';
import { escapeHtml, toHtmlPage, type IndexGroup } from '../html/html-page.js';
import { COMMANDS, commandsOf } from './commands.js';

/** Contacts by owner, in the order of the list: on call first. */
const CONTACTS: Readonly<Record<Owner, readonly [heading: string, contact: string]>> = {
  bank: ['The bank acts', "The bank's service desk."],
  operator: ['The operator acts', 'Whoever runs this gateway: its settings, its certificate, its machine.'],
  network: ['The network team acts', 'The team that runs DNS, firewall and proxy between this machine and the bank.'],
  caller: ['The team of the app acts', 'The team of the app that made the call.'],
};

/** /problems: every code, by the party that must act. */
export function toListPage(): string {
  const head = '<tr><th>Code</th><th>Status</th><th>Meaning</th></tr>';
  const groups = Object.entries(CONTACTS).map(([owner, [heading, contact]]) => {
    const rows = ALL_CODES.filter((code) => PROBLEMS[code].owner === owner).map((code) => {
      const { title } = PROBLEMS[code];
      const cells = [`<a href="/problems/${code}">${code}</a>`, toPlace(code), escapeHtml(title)];
      return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    });
    return `<h2 id="${owner}">${heading}</h2><p class="quiet">${mark(contact)}</p><div class="scroll" tabindex="0"><table class="codes">${head}${rows.join('')}</table></div>`;
  });
  return toHtmlPage('Errors', `<h1>Errors</h1>${groups.join('')}`, { place: '/problems', index: INDEX });
}

const INDEX: readonly IndexGroup[] = Object.entries(CONTACTS).map(([owner, [heading]]) => ({
  heading,
  links: ALL_CODES.filter((code) => PROBLEMS[code].owner === owner).map((code) => ({
    href: `/problems/${code}`,
    text: code,
  })),
}));

/** How to reach the bank, where it must act. */
export interface BankContact {
  /** BANK_STATUS_PAGE. */
  readonly statusPage: string | null;
  /** BANK_SUPPORT. */
  readonly support: string | null;
}

/** /problems/{code}: the explanation of one code. */
export function toCodePage(code: AnyCode, { statusPage, support }: BankContact): string {
  const { title, owner, when, steps, request }: Problem = PROBLEMS[code];
  const items = [toStatusPageStep(owner, statusPage), ...steps.map(mark)]
    .filter(Boolean)
    .map((step) => `<li>${step}</li>`);
  const over =
    owner === 'caller' || code === 'network-error'
      ? 'The same call succeeds.'
      : '`/health` no longer has this code, and a call succeeds.';
  return toHtmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p><code>${code}</code> · ${toPlace(code)} · who must act: ${toOwner(owner)}</p>
<h2>When</h2><p>${mark(when)}</p>
<h2>What to do</h2><ol>${items.join('')}</ol>
${toCommands(code)}
<h2>Contact</h2><p>${mark(CONTACTS[owner][1])}${request && owner !== 'network' ? toSupport(owner, support) : ''}</p>
<h2>How to verify the fix</h2><p>${mark(over)}</p>
<p><a href="/docs/guide/troubleshooting">Troubleshooting</a> · <a href="/">Status</a></p>`,
    { place: '/problems', index: INDEX, href: `/problems/${code}` },
  );
}

/** The commands that the steps of a code need; empty without any. */
function toCommands(code: AnyCode): string {
  const names = commandsOf(code);
  if (names.length === 0) return '';
  const blocks = names.map((name) => {
    const { systemd, docker, kubernetes } = COMMANDS[name];
    const rows = Object.entries({ systemd, Docker: docker, Kubernetes: kubernetes }).map(
      ([where, command]) =>
        `<tr><th scope="row">${where}</th><td><pre tabindex="0"><code>${escapeHtml(command)}</code></pre></td></tr>`,
    );
    return `<h3>${name}</h3><table class="commands">${rows.join('')}</table>`;
  });
  return `<h2>Commands</h2>${blocks.join('')}`;
}

/** The bank's desk, which has to be asked even where the operator must act. */
function toSupport(owner: Owner, support: string | null): string {
  const desk = support === null ? mark('Set `BANK_SUPPORT` to show how to reach it.') : escapeHtml(support);
  return owner === 'bank' ? ` ${desk}` : ` The bank's service desk: ${desk}`;
}

/** The page for a failed browser navigation, with the contents of its problem document. */
export function toFailurePage(
  { title, status, detail, instance, code, owner, requestId }: ProblemDocument,
  statusPage: string | null,
): string {
  return toHtmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(detail)}</p>
<p class="quiet"><code>${escapeHtml(instance)}</code> answered ${status}. Request id: <code>${escapeHtml(requestId)}</code></p>
<h2>What to do</h2><p>${toStatusPageStep(owner, statusPage)} ${mark(remedyOf(code))} Who must act: ${toOwner(owner)}.</p>
<p><a href="/problems/${code}">All steps for ${code}</a> · <a href="/">Status</a></p>`,
  );
}

/** The status of the responses with this code, or the only place that has it. */
const toPlace = (code: AnyCode): string | number =>
  PROBLEMS[code].status ?? (code === 'network-error' ? 'the typed client' : '/health');

/** The owner as in `owner`; the reader of a page may not know that a caller is an app. */
const toOwner = (owner: Owner): string => `<b>${owner}</b>${owner === 'caller' ? ' (the team of the app)' : ''}`;

/** The first of all steps if the bank must act; empty without BANK_STATUS_PAGE. */
const toStatusPageStep = (owner: Owner, statusPage: string | null): string =>
  owner === 'bank' && statusPage !== null
    ? `Look at <a href="${escapeHtml(statusPage)}" rel="noreferrer">the bank's status page</a>.`
    : '';

/** Renders code and links in a step; an address of this gateway becomes a link too. */
const mark = (text: string): string =>
  escapeHtml(text)
    .replaceAll(/\[([^\]]+)\]\(([\w-]+)\.md(#[\w-]+)?\)/g, '<a href="/docs/guide/$2$3">$1</a>')
    .replaceAll(/`([^`]*)`/g, (_, code: string) =>
      /^\/(?:health|docs|metrics)/.test(code) ? `<a href="${code}"><code>${code}</code></a>` : `<code>${code}</code>`,
    );
