import type { ProblemDocument } from '../../errors/problem-document.js';
import { ALL_CODES, PROBLEMS, remedyOf, type AnyCode, type Owner, type Problem } from '../../errors/problem-table.js';
import type { Settings } from '../../config/settings.js';
import { escapeHtml, toHtmlPage, type IndexGroup } from '../html/html-page.js';
import { COMMANDS, commandsOf } from './commands.js';

/** Contacts by owner, in the order of the list: on call first. */
const CONTACTS: Readonly<Record<Owner, readonly [heading: string, contact: string]>> = {
  bank: ['The bank acts', "The bank's service desk."],
  operator: ['The operator acts', 'Whoever runs this gateway: its settings, its certificate, its machine.'],
  network: ['The network team acts', 'The team that runs DNS, firewall and proxy between this machine and the bank.'],
  caller: ['The team of the app acts', 'The team of the app that made the call.'],
};

const GROUPS = Object.entries(CONTACTS).map(([owner, [heading, contact]]) => {
  const codes = ALL_CODES.filter((code) => PROBLEMS[code].owner === owner);
  return { owner, heading, contact, codes };
});

const INDEX: readonly IndexGroup[] = GROUPS.map(({ heading, codes }) => ({
  heading,
  links: codes.map((code) => ({ href: `/problems/${code}`, text: code })),
}));

/** /problems: every code, by the party that must act. */
export function toListPage(): string {
  const head = '<tr><th>Code</th><th>Status</th><th>Meaning</th></tr>';
  const groups = GROUPS.map(({ owner, heading, contact, codes }) => {
    const rows = codes.map((code) => {
      const link = `<a href="/problems/${code}">${code}</a>`;
      return `<tr><td>${link}</td><td>${toPlace(code)}</td><td>${escapeHtml(PROBLEMS[code].title)}</td></tr>`;
    });
    return `<h2 id="${owner}">${heading}</h2><p class="quiet">${mark(contact)}</p><div class="scroll" tabindex="0"><table class="codes">${head}${rows.join('')}</table></div>`;
  });
  return toHtmlPage('Errors', `<h1>Errors</h1>${groups.join('')}`, { place: '/problems', index: INDEX });
}

/** How to reach the bank, where it must act. */
type BankContact = Pick<Settings, 'BANK_STATUS_PAGE' | 'BANK_SUPPORT'>;

/** /problems/{code}: the explanation of one code. */
export function toCodePage(code: AnyCode, bank: BankContact): string {
  const { title, owner, when, steps, request }: Problem = PROBLEMS[code];
  const items = [toStatusPageStep(owner, bank), ...steps.map(mark)].filter(Boolean).map((step) => `<li>${step}</li>`);
  const over =
    owner === 'caller' || code === 'network-error'
      ? 'The same call succeeds.'
      : 'No component in `/health` has this code, and a call succeeds.';
  return toHtmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p><code>${code}</code> · ${toPlace(code)} · who must act: ${toOwner(owner)}</p>
<h2>When</h2><p>${mark(when)}</p>
<h2>What to do</h2><ol>${items.join('')}</ol>
${toCommands(code)}
<h2>Contact</h2><p>${mark(CONTACTS[owner][1])}${request && owner !== 'network' ? toSupport(owner, bank) : ''}</p>
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
function toSupport(owner: Owner, { BANK_SUPPORT: support }: BankContact): string {
  const desk = support ? escapeHtml(support) : mark('Set `BANK_SUPPORT` to show how to reach it.');
  return owner === 'bank' ? ` ${desk}` : ` The bank's service desk: ${desk}`;
}

/** The page for a failed browser navigation, with the contents of its problem document. */
export function toFailurePage(
  { title, status, detail, instance, code, owner, requestId }: ProblemDocument,
  bank: BankContact,
): string {
  return toHtmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(detail)}</p>
<p class="quiet"><code>${escapeHtml(instance)}</code> answered ${status}. Request id: <code>${escapeHtml(requestId)}</code></p>
<h2>What to do</h2><p>${toStatusPageStep(owner, bank)} ${mark(remedyOf(code))} Who must act: ${toOwner(owner)}.</p>
<p><a href="/problems/${code}">All steps for ${code}</a> · <a href="/">Status</a></p>`,
  );
}

/** The status of the responses with this code, or where else it appears. */
const toPlace = (code: AnyCode): string | number =>
  PROBLEMS[code].status ?? (code === 'network-error' ? 'the typed client' : '/health');

/** The owner as in `owner`; the reader of a page may not know that a caller is an app. */
const toOwner = (owner: Owner): string => `<b>${owner}</b>${owner === 'caller' ? ' (the team of the app)' : ''}`;

/** The first of all steps if the bank must act; empty without BANK_STATUS_PAGE. */
const toStatusPageStep = (owner: Owner, { BANK_STATUS_PAGE: statusPage }: BankContact): string =>
  owner === 'bank' && statusPage
    ? `Look at <a href="${escapeHtml(statusPage)}" rel="noreferrer">the bank's status page</a>.`
    : '';

/** Renders code and links in a step; an address of this gateway becomes a link too. */
const mark = (text: string): string =>
  escapeHtml(text)
    .replaceAll(/\[([^\]]+)\]\(([\w-]+)\.md(#[\w-]+)?\)/g, '<a href="/docs/guide/$2$3">$1</a>')
    .replaceAll(/`([^`]*)`/g, (_, code: string) =>
      /^\/(?:health|docs|metrics)/.test(code) ? `<a href="${code}"><code>${code}</code></a>` : `<code>${code}</code>`,
    );
