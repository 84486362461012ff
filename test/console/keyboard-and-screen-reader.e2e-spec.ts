import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { Clock } from '../../src/time/clock.js';
import { openWindow, startBrowser } from '../support/client-pages.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { hasChromium } from '../support/tools.js';
import { until } from '../support/until.js';
import { openPage, rowsOf, styleOf } from './open-page.js';
import { PAGE_STATES } from './page-states.js';

/** Pages of each kind, and an element that is there when the page is complete. */
const PAGES = [
  ['', '.menu summary'],
  ['accounts', '.open-account'],
  ['docs', '.copy'],
  ['docs/guide/certificates', '.copy'],
  ['problems', 'main table'],
  ['problems/bank-error', 'main h2'],
  ['none', 'main h1'],
] as const;

const CONTROLS = 'a[href], button, input, select, summary';

(hasChromium() ? describe : describe.skip)('with a keyboard or a screen reader', () => {
  let browser: Browser;
  let gateway: Gateway;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await startBrowser();
    const bank = await start();
    gateway = await startGateway(bank, {}, new Clock(), bank.control);
    await gateway.get('/api/v1/accounts', { 'x-client-name': 'treasury' });
  });
  beforeEach(async () => {
    context = await openWindow(browser, { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  });
  afterEach(() => context.close());
  afterAll(() => browser.close());

  async function open(path: string, shown = '.open-account'): Promise<Page> {
    const { page } = await openPage(context, gateway.url, path);
    await page.locator(shown).first().waitFor();
    return page;
  }
  const focusOf = (page: Page) =>
    page.evaluate<string>(
      'document.activeElement.ariaLabel || document.activeElement.id || document.activeElement.innerText',
    );

  it('each amount is one text with the digits of the bank', async () => {
    const page = await open('accounts');
    await page.locator('.totals .amount').first().waitFor();
    const { json: list } = await gateway.get('/api/v1/accounts?pageSize=25');
    const { json: balances } = await gateway.get('/api/v1/balances');
    const [totals, accounts] = [
      balances.totals as { current: string }[],
      list.accounts as { balances: { current: string }[] }[],
    ];
    const amounts = [...totals.slice(0, 5), ...accounts.flatMap((each) => each.balances.slice(0, 1))];
    expect(amounts.length).toBeGreaterThan(25);
    const session = await context.newCDPSession(page);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const { nodes } = await session.send('Accessibility.getFullAXTree');
      const cells = new Set(nodes.filter(({ role }) => role?.value === 'cell').map(({ name }) => name?.value));
      expect(amounts.map(({ current }) => current).filter((text) => text && !cells.has(text))).toEqual([]);
    }
  });

  it.each(PAGES)(
    'Tab shows the focus on each control of /%s, in order, and leaves it; the skip link and the headings are right',
    async (path, shown) => {
      const page = await open(path, shown);
      const levels = await page.locator('h1, h2, h3, h4').evaluateAll((all) => all.map(({ tagName }) => tagName));
      expect([levels[0], levels.filter((level) => level === 'H1').length]).toEqual(['H1', 1]);
      await page.keyboard.press('Tab');
      expect(await focusOf(page)).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      expect(await focusOf(page)).toBe('main');
      await page.goto(`${gateway.url}/${path}`);
      await page.locator(shown).first().waitFor();
      const count = await page.locator(CONTROLS).evaluateAll((all) => {
        const visible = all.filter((each) => each.checkVisibility());
        for (const [index, each] of visible.entries()) each.setAttribute('data-control', String(index));
        return visible.length;
      });
      const reached: string[] = [];
      for (let stop = await tab(page); stop.isInside; stop = await tab(page)) {
        if (stop.control === reached[0]) break;
        expect(stop).toMatchObject({ outline: 'solid', isShown: true });
        if (stop.control !== null) reached.push(stop.control);
      }
      expect(reached).toEqual(Array.from({ length: count }, (_, index) => String(index)));
    },
  );

  it('a control that disappears leaves the focus near it', async () => {
    const page = await open('accounts?q=nordlys');
    const press = async (name: string) => {
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
    };
    await press('Clear');
    await page.getByText('of 120').waitFor();
    expect(await focusOf(page)).toBe('accounts');
    await page.goto(`${gateway.url}/accounts?q=zzzzzz`);
    await press('Show all accounts');
    await page.getByText('of 120').waitFor();
    expect(await focusOf(page)).toBe('accounts');
    const last = rowsOf(page).nth(24);
    const name = await last.innerText();
    await page.goto(`${gateway.url}/accounts${new URL((await last.getAttribute('href')) ?? '', gateway.url).search}`);
    await page.locator('dialog .facts').waitFor();
    await press('Next account');
    expect(await focusOf(page)).toBe('Next account');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'hidden' });
    expect(await focusOf(page)).toBe(name);
  });

  it('Check now leaves the focus on Status, whose card becomes another one', async () => {
    const idle = await PAGE_STATES['no app has called for a while, and the bank fails meanwhile'].arrange();
    const { page } = await openPage(context, idle.url);
    await page.getByRole('button', { name: 'Check now' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.incident').waitFor();
    await until(async () => (await focusOf(page)) === 'main');
  });

  it('/ moves to the search, Enter on an account to its panel, and Escape back; a mouse leaves the focus in the list', async () => {
    const page = await open('accounts');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('/');
    expect(await focusOf(page)).toBe('search');
    const row = rowsOf(page).nth(3);
    await rowsOf(page).nth(2).focus();
    await page.keyboard.press('ArrowDown');
    expect(await focusOf(page)).toBe(await row.innerText());
    await page.keyboard.press('Enter');
    await page.locator('aside .facts').waitFor();
    await until(async () => (await focusOf(page)) === 'Account');
    await page.keyboard.press('Escape');
    await page.locator('aside.panel').waitFor({ state: 'hidden' });
    expect(await focusOf(page)).toBe(await row.innerText());
    const other = rowsOf(page).nth(9);
    await other.click();
    await page.locator('aside .facts').waitFor();
    expect(await focusOf(page)).toBe(await other.innerText());
  });

  it("the reader's font size applies, and at twice the usual size nothing is cut off", async () => {
    const page = await open('accounts');
    const session = await context.newCDPSession(page);
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
    await page.setViewportSize({ width: 360, height: 900 });
    for (const [path, shown] of PAGES) {
      await page.goto(`${gateway.url}/${path}`);
      await page.locator(shown).first().waitFor();
      expect(
        await page.evaluate(
          '[location.pathname, getComputedStyle(document.documentElement).fontSize, document.documentElement.scrollWidth]',
        ),
      ).toEqual([`/${path}`, '30px', 360]);
    }
  });

  it('at 360 px, no document is wider than the screen, whatever code it contains', async () => {
    const page = await open('accounts');
    await page.setViewportSize({ width: 360, height: 900 });
    for (const path of ['problems/account-not-found', 'problems/certificate-expiring', 'docs/guide/logs']) {
      await page.goto(`${gateway.url}/${path}`);
      await page.locator('main h1').waitFor();
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
    }
  });

  it('in forced colors, an outline marks the open account', async () => {
    await context.close();
    context = await openWindow(browser, { viewport: { width: 1440, height: 900 }, forcedColors: 'active' });
    const page = await open('accounts');
    await rowsOf(page).first().click();
    expect(await styleOf(page, 'tr.chosen', 'outlineStyle')).toBe('solid');
  });

  it('Accounts on portrait paper is a table with all columns and full names', async () => {
    const page = await open('accounts');
    await page.emulateMedia({ media: 'print' });
    // A4 with margins of 10 mm
    await page.setViewportSize({ width: 718, height: 1000 });
    expect(await page.locator('.print-head').isVisible()).toBe(true);
    const right = await page
      .locator('td.c-currency')
      .evaluateAll((all) => Math.max(...all.map((each) => each.getBoundingClientRect().right)));
    expect(right).toBeLessThanOrEqual(718);
    expect(await styleOf(page, '.owner', 'display')).toBe('block');
  });

  it('a document on paper has its examples in full', async () => {
    const page = await open('docs/guide/deploy', '.copy');
    const hidden = () =>
      page.evaluate<number>(
        `[...document.querySelectorAll('pre')].filter((each) => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth).length`,
      );
    expect(await hidden()).toBeGreaterThan(0);
    // commands in a step keep their lines
    expect(await styleOf(page, 'li pre code', 'whiteSpace')).toBe('pre');
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 718, height: 1000 });
    expect(await hidden()).toBe(0);
  });
});

/** Presses Tab, and describes the control that has the focus then. */
async function tab(
  page: Page,
): Promise<{ isInside: boolean; outline: string; isShown: boolean; control: string | null }> {
  await page.keyboard.press('Tab');
  return page.evaluate(`(() => {
    const { activeElement: each, body } = document;
    const { top, bottom, width, height } = each.getBoundingClientRect();
    return {
      isInside: each !== body,
      outline: getComputedStyle(each).outlineStyle,
      isShown: width > 0 && height > 0 && bottom > 0 && top < innerHeight,
      control: each.getAttribute('data-control'),
    };
  })()`);
}
