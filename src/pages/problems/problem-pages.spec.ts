import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../errors/gateway-error.js';
import { toProblemDocument } from '../../errors/problem-document.js';
import { toCodePage, toFailurePage, toListPage } from './problem-pages.js';
import { ALL_CODES, PROBLEMS } from '../../errors/problem-table.js';

/** The page without head and header, which are the same everywhere. */
const mainOf = (page: string): string => page.slice(page.indexOf('<main'));

describe('the pages of the errors', () => {
  it('list every code', () => {
    const page = toListPage();
    for (const code of ALL_CODES) expect(page).toContain(`<a href="/problems/${code}">`);
  });

  it.each(ALL_CODES)('explain %s', (code) => {
    const page = toCodePage(code);
    for (const part of [code, PROBLEMS[code].owner, 'When', 'What to do', 'Contact', 'How to verify the fix']) {
      expect(page).toContain(part);
    }
    const steps = page.match(/<li>/g)?.length ?? 0;
    expect(steps).toBeGreaterThanOrEqual(3);
    expect(steps).toBeLessThanOrEqual(6);
    expect(mainOf(page)).not.toMatch(/<script|style=|`/);
  });

  it('escape what a caller sent', () => {
    const page = toFailurePage(toProblemDocument(new GatewayError('not-found', 'No <route>.'), '/<script>', 'r-1'));
    expect(page).toContain('<code>/&lt;script&gt;</code> answered 404');
    expect(page).toContain('No &lt;route&gt;.');
    expect(mainOf(page)).not.toContain('<script');
  });
});
