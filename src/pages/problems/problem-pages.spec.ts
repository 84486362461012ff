import { describe, expect, it } from '@jest/globals';
import { readDocument } from '../../../test/support/documents.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toProblemDocument } from '../../errors/problem-document.js';
import { ALL_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { toAnchor } from '../html/markdown.js';
import { COMMANDS, commandsOf } from './commands.js';
import { toCodePage, toFailurePage, toListPage } from './problem-pages.js';

const STATUS_PAGE = 'https://status.bank.example/?a&b';
const CONTACT = { BANK_STATUS_PAGE: STATUS_PAGE, BANK_SUPPORT: 'Desk <1>' };
const UNSET = { BANK_STATUS_PAGE: undefined, BANK_SUPPORT: undefined };

/** The page without head, header and index. */
const mainOf = (page: string): string => page.slice(page.indexOf('<main'));

const headingsOf = (document: string) =>
  [...readDocument(`docs/${document}`).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading));

describe('the pages of the errors', () => {
  it('list every code once', () => {
    const links = [...mainOf(toListPage()).matchAll(/href="\/problems\/([\w-]+)"/g)].map(([, code]) => code);
    expect(links.sort()).toEqual([...ALL_CODES].sort());
  });

  it.each(ALL_CODES)('explain %s with every step, and contain only our own markup', (code) => {
    const page = mainOf(toCodePage(code, CONTACT));
    const isBanks = PROBLEMS[code].owner === 'bank';
    expect(page.match(/<li>/g)).toHaveLength(PROBLEMS[code].steps.length + (isBanks ? 1 : 0));
    expect(page.includes('<li>Look at <a href="https://status.bank.example/?a&amp;b"')).toBe(isBanks);
    expect(toCodePage(code, UNSET)).not.toContain('status page</a>');
    expect(page).not.toMatch(/<script|style=|`|\]\(/);
  });

  it.each([
    ['bank-error', true],
    ['not-found', false],
  ] as const)("after a navigation that fails with %s, link to the bank's status page: %s", (code, isLinked) => {
    const document = toProblemDocument(new GatewayError(code, 'Detail.'), '/', 'r-1');
    expect(toFailurePage(document, CONTACT).includes('href="https://status.bank.example/?a&amp;b"')).toBe(isLinked);
    expect(toFailurePage(document, UNSET)).not.toContain('status page</a>');
  });

  it('escape text from a caller', () => {
    const document = toProblemDocument(new GatewayError('not-found', 'No <route>.'), '/<script>', 'r-1');
    const page = toFailurePage(document, CONTACT);
    expect(page).toContain('<code>/&lt;script&gt;</code> answered 404');
    expect(page).toContain('No &lt;route&gt;.');
    expect(page).toContain('<b>caller</b> (the team of the app)');
    expect(mainOf(page)).not.toContain('<script');
  });
});

describe('where the bank must act, or has to be asked, its desk', () => {
  it.each([
    ['bank-error', "The bank's service desk. Desk &lt;1&gt;"],
    ['address-not-allowed', "The bank's service desk: Desk &lt;1&gt;"],
  ] as const)('is in the page of %s', (code, contact) => {
    expect(toCodePage(code, CONTACT)).toContain(contact);
    expect(toCodePage(code, UNSET)).toContain('Set <code>BANK_SUPPORT</code>');
  });

  it.each(['bank-unreachable', 'not-found'] as const)('is not in the page of %s', (code) => {
    expect(toCodePage(code, CONTACT)).not.toContain('Desk');
  });
});

describe('the commands', () => {
  it('on the page of a code are those that its steps link to, for systemd, Docker and Kubernetes', () => {
    expect(commandsOf('credentials-rejected')).toEqual(['The doctor', 'Reload', 'Restart']);
    expect(commandsOf('bank-error')).toEqual([]);
    const page = toCodePage('credentials-rejected', UNSET);
    for (const command of ['systemctl reload', 'docker kill --signal HUP', 'kubectl -n accounts-gateway rollout'])
      expect(page).toContain(command);
  });

  it.each(ALL_CODES)('are on the page of %s if a step links to some', (code) => {
    const links = PROBLEMS[code].steps.join('').match(/troubleshooting\.md#(?:commands|the-doctor)/g) ?? [];
    expect(commandsOf(code).length > 0 || links.length === 0).toBe(true);
  });

  it('for the doctor on systemd are those in the document', () => {
    const text = readDocument('docs/troubleshooting.md').replaceAll(/ \\\n\s*/g, ' ');
    expect(text).toContain(COMMANDS['The doctor'].systemd);
  });
});

describe('the steps', () => {
  it.each(ALL_CODES)('of %s work as printed on systemd, Docker and Kubernetes', (code) => {
    const text = PROBLEMS[code].steps.join('\n');
    // troubleshooting.md has the differences between them
    expect(text).not.toMatch(/\bnpm\b|dist\/main|kill -HUP|systemctl|docker |kubectl/);
    for (const [, document = '', anchor] of text.matchAll(/\]\(([\w-]+\.md)(?:#([\w-]+))?\)/g)) {
      if (anchor) expect(headingsOf(document)).toContain(anchor);
      else expect(headingsOf(document)).not.toEqual([]);
    }
  });

  it.each(ALL_CODES.filter((code) => PROBLEMS[code].owner !== 'caller'))(
    'of %s begin with an instruction that a deadline can complete, and that fits a doctor that tries once',
    (code) => {
      const [first] = PROBLEMS[code].steps;
      const [sentence = ''] = /^.*?\.(?= |$)/.exec(first) ?? [];
      expect(sentence).toMatch(/^[A-Z][^;`[]*\.$/);
      expect(sentence.length).toBeLessThan(100);
      expect(first).not.toMatch(/gateway (retries|waits|loads|uses)|\bnow\b|`/);
    },
  );
});
