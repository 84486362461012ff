import AxeBuilder from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { AppModule } from '../../src/app.module.js';
import { SystemClock } from '../../src/time/clock.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { startBrowser } from '../support/client-pages.js';
import { closeAll } from '../support/closing.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { closePretendBanks, issueToken, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';
import { cleanUp, start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { hasChromium } from '../support/tools.js';
import { until } from '../support/until.js';

const FRESH_MS = 1000;

const NARROW = { width: 360, height: 800 };
const WATCH_POLICY = `addEventListener('securitypolicyviolation', (event) => console.error('CSP: ' + event.violatedDirective))`;

/** Each thing that a page must not do: errors in the console or of scripts, breaches of its policy, requests to others. */
interface Tab {
  readonly page: Page;
  readonly wrongs: string[];
}

const describeWithChromium = hasChromium() ? describe : describe.skip;

describeWithChromium('the console page in a real browser', () => {
  let browser: Browser;
  let bank: Sandbox;
  let gateway: Gateway;
  let context: BrowserContext;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    bank = await start();
    const env = { SNAPSHOT_FRESH_MS: String(FRESH_MS) };
    gateway = await startGateway(bank, env, new SystemClock(), bank.control);
    await gateway.get('/api/v1/accounts');
  });
  beforeEach(async () => {
    context = await newContext();
  });
  afterEach(async () => {
    for (const each of contexts.splice(0)) await each.close();
    reset();
  });
  afterAll(async () => {
    await browser.close();
    await closeAll();
    await closeGateways();
    await closePretendBanks();
    await cleanUp();
  });

  async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const size = { width: 1440, height: 900 };
    const made = await browser.newContext({ viewport: size, reducedMotion: 'reduce', ...options });
    contexts.push(made);
    return made;
  }
  /** The switches back, and the wait after what they broke ended, as `serve --sandbox` does. */
  const reset = () => {
    bank.control.reset();
    gateway.app.get(AppModule).reload();
  };

  async function open(search = '', at: { context?: BrowserContext; gateway?: Gateway } = {}): Promise<Tab> {
    const page = await (at.context ?? context).newPage();
    const { url } = at.gateway ?? gateway;
    const wrongs: string[] = [];
    page.on('pageerror', (error) => wrongs.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') wrongs.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) wrongs.push(request.url());
    });
    await page.addInitScript(WATCH_POLICY);
    await page.goto(`${url}/${search}`);
    return { page, wrongs };
  }

  const rows = (page: Page) => page.locator('.open-account');
  const settled = (page: Page) => rows(page).first().waitFor();
  const headline = (page: Page) => page.locator('#situation');
  const hop = (page: Page, name: string) => page.locator('.hop', { hasText: name });
  const searchOf = (page: Page) => new URL(page.url()).search;
  const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth');
  /** What axe finds in the page, or in these parts of it. */
  async function faultsIn(page: Page, ...parts: string[]): Promise<string[]> {
    const axe = parts.reduce((builder, part) => builder.include(part), new AxeBuilder({ page }));
    // without frames to look into, and without what it found well
    const { violations } = await axe
      .setLegacyMode(true)
      .options({ resultTypes: ['violations'] })
      .analyze();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 80)).join(' | ')}`);
  }

  describe('the first screen', () => {
    it('shows without a click how it goes, the way to the bank, totals, accounts, the last hour, events', async () => {
      const { page, wrongs } = await open();
      const began = performance.now();
      await settled(page);
      // some 300 ms on a quiet machine
      expect(performance.now() - began).toBeLessThan(5000);
      await page.getByText('All well').waitFor();
      await page.getByText('live', { exact: true }).waitFor();
      const shown = await page.locator('body').innerText();
      for (const text of ['Made-up accounts', '120 accounts', 'old', 'days', 'Token', 'direct', 'Latency', 'Events']) {
        expect(shown).toContain(text);
      }
      await page.getByText('1–25 of 120 in all').waitFor();
      expect(await page.locator('.total').count()).toBeGreaterThan(5);
      expect(await page.title()).toBe('Accounts gateway');
      await until(async () => (await page.locator('.u-over').count()) === 3);
      await page
        .getByText('the gateway serves')
        .or(page.getByText('the client certificate is loaded'))
        .first()
        .waitFor();
      expect(wrongs).toEqual([]);
    });

    it('ages before the eyes of its reader, by the age that the answer had', async () => {
      const { page } = await open();
      await settled(page);
      const age = () => hop(page, 'Data').locator('time').innerText();
      expect(await age()).toMatch(/^\d s old$/);
      const before = await age();
      await until(async () => (await age()) !== before);
    });

    it.each(['light', 'dark'] as const)(
      'has nothing for axe to find, %s, with trouble as without',
      async (colorScheme) => {
        const other = await newContext({ colorScheme });
        // few rows: axe takes its time for each
        const { page } = await open('?currency=GBP', { context: other });
        await settled(page);
        await page.getByText('live', { exact: true }).waitFor();
        expect(await faultsIn(page)).toEqual([]);
        await page.getByRole('switch', { name: 'Bank down' }).click();
        await page.getByText('What to do').waitFor();
        expect(await faultsIn(page, '.sandbox', '.situation', '.way')).toEqual([]);
      },
    );

    it('fits 360 px', async () => {
      const other = await newContext({ viewport: NARROW });
      const { page } = await open('', { context: other });
      await settled(page);
      expect(await widthOf(page)).toBe(NARROW.width);
      await rows(page).first().click();
      await page.locator('dialog .facts').waitFor();
      expect(await widthOf(page)).toBe(NARROW.width);
      expect(await page.evaluate(`document.querySelector('dialog').scrollWidth`)).toBe(NARROW.width);
      expect(await faultsIn(page, 'dialog')).toEqual([]);
    });
  });

  describe('the keyboard', () => {
    it('leads past the head, to the search, through the accounts, into one and back', async () => {
      const { page, wrongs } = await open();
      await settled(page);
      const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.id');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to the accounts');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('accounts');
      await page.keyboard.press('/');
      expect(await focused()).toBe('search');
      await page.keyboard.type('client funds');
      await page.getByText(/\d+ found/).waitFor();
      await rows(page).first().focus();
      await page.keyboard.press('ArrowDown');
      const name = await rows(page).nth(1).innerText();
      expect(await focused()).toBe(name);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 2, name }).waitFor();
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.id')).not.toBe('search');
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'hidden' });
      await until(async () => (await focused()) === name);
      await page.keyboard.press('/');
      await page.keyboard.press('Escape');
      await page.getByText('of 120 in all').waitFor();
      expect(wrongs).toEqual([]);
    });
  });

  describe('the address bar', () => {
    it('holds the view: it comes back with the address, and by back and forward', async () => {
      const { page } = await open();
      await settled(page);
      await page.locator('#search').fill('nordlys');
      await page.getByText(/\d+ found/).waitFor();
      await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR');
      await page.getByRole('button', { name: 'Current' }).click();
      await until(() => searchOf(page) === '?q=nordlys&currency=EUR&sort=current');
      await page.getByRole('button', { name: 'Current' }).click();
      await until(() => searchOf(page) === '?q=nordlys&currency=EUR&sort=-current');
      await page.locator('.accounts[aria-busy=false]').waitFor();
      const names = await rows(page).allInnerTexts();

      const { page: again } = await open(searchOf(page));
      await settled(again);
      expect(await rows(again).allInnerTexts()).toEqual(names);
      expect(await again.locator('#search').inputValue()).toBe('nordlys');
      expect(await again.getByRole('combobox', { name: 'Currency' }).inputValue()).toBe('EUR');
      expect(await again.locator('th[aria-sort=descending]').innerText()).toContain('Current');
      const { json } = await gateway.get('/api/v1/accounts?q=nordlys&currency=EUR&sort=-current');
      expect(names).toEqual((json.accounts as { name: string }[]).map((account) => account.name));

      await page.goBack();
      await page.goBack();
      await until(() => searchOf(page) === '?q=nordlys&currency=EUR' || searchOf(page) === '?q=nordlys');
      await page.goForward();
      await until(() => searchOf(page).includes('currency=EUR'));
      expect(await page.locator('#search').inputValue()).toBe('nordlys');
    });

    it('has the page of the list, and an account; another filter begins at the first page', async () => {
      const { page } = await open('?pageNumber=2&pageSize=50');
      await page.getByText('51–100 of 120 in all').waitFor();
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.getByText('101–120 of 120 in all').waitFor();
      await page.locator('.total a').first().click();
      await until(() => searchOf(page) === '?currency=BHD&pageSize=50');
      await rows(page).first().click();
      await until(() => searchOf(page).includes('account='));
      const { page: shared } = await open(searchOf(page));
      await shared.locator('dialog .facts').waitFor();
      await shared.getByRole('button', { name: 'Close' }).click();
      await until(() => searchOf(shared) === '?currency=BHD&pageSize=50');
    });

    it('is not trusted: what is wrong in it shows the usual view, or says what is not there', async () => {
      const { page } = await open('?pageSize=999999&sort=evil&pageNumber=0');
      await page.getByText('1–25 of 120 in all').waitFor();
      const { page: none } = await open('?account=none');
      await none.getByText('No account to show').waitFor();
      const { page: past } = await open('?pageNumber=99');
      await past.getByRole('button', { name: 'To the first page' }).click();
      await past.getByText('1–25 of 120 in all').waitFor();
      const { page: empty } = await open('?q=zzzzzz');
      await empty.getByRole('button', { name: 'Show all accounts' }).click();
      await empty.getByText('1–25 of 120 in all').waitFor();
    });

    it('leads to the same as CSV', async () => {
      const { page } = await open('?q=nordlys&currency=EUR&sort=-current');
      await settled(page);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'CSV' }).click(),
      ]);
      expect(download.url()).toBe(`${gateway.url}/api/v1/accounts?q=nordlys&currency=EUR&sort=-current&format=csv`);
    });
  });

  it('an IBAN is copied as it is, without the gaps that are drawn', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { page } = await open('?q=LU060408592157516019');
    await rows(page).first().click();
    await page.getByRole('button', { name: 'Copy LU060408592157516019' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('LU060408592157516019');
    expect(await page.locator('.big-iban .iban').innerText()).toBe('LU060408592157516019');
  });

  describe('what happens at the bank', () => {
    it('shows by the feed, without a reload, in every tab over one stream', async () => {
      const tabs = await Promise.all([open(), open(), open()]);
      for (const { page } of tabs) {
        await settled(page);
        await page.getByText('live', { exact: true }).waitFor();
      }
      const streams = () =>
        gateway.events('request').filter((line) => line['stream'] === true).length -
        gateway.events('stream.ended').length;
      await until(() => streams() === 1, 15_000);
      const amountsOf = (page: Page) => page.locator('td.c-current').allInnerTexts();
      const before = await Promise.all(tabs.map(({ page }) => amountsOf(page)));
      // no tab learns of it by asking for health
      for (const { page } of tabs) await page.route('**/health', () => undefined);
      bank.control.patch({ movement: true });
      for (const [index, { page }] of tabs.entries()) {
        await until(async () => (await amountsOf(page)).join() !== before[index]?.join(), 15_000);
      }
      expect(streams()).toBe(1);
      expect(tabs.flatMap(({ wrongs }) => wrongs)).toEqual([]);
    });

    it('away: says who must act and what to do, shows the copy; back: all well, by itself', async () => {
      const { page } = await open();
      await settled(page);
      await page.getByRole('switch', { name: 'Bank down' }).click();
      await page.getByText('What to do').waitFor();
      expect(await headline(page).innerText()).toBe('The bank reports an error of its own');
      const situation = await page.locator('.situation').innerText();
      expect(situation).toContain('The bank\n');
      expect(await page.getByRole('link', { name: 'bank-error' }).getAttribute('href')).toBe('/problems/bank-error');
      expect(await hop(page, 'Bank').getAttribute('class')).toMatch(/hop-(warn|bad)/);
      expect(await hop(page, 'Certificate').getAttribute('class')).toContain('hop-ok');
      await until(async () => (await page.title()).startsWith('The bank cannot be reached'));
      expect(await rows(page).count()).toBe(25);
      expect(await page.getByRole('switch', { name: 'Bank down' }).getAttribute('aria-checked')).toBe('true');
      await page.getByRole('switch', { name: 'Bank down' }).click();
      gateway.app.get(AppModule).reload();
      await page.getByText('All well').waitFor();
      expect(await page.title()).toBe('Accounts gateway');
    });

    it.each([
      ['No accounts granted', 'The bank has granted no accounts', 'Bank', 0],
      ['Address not white-listed', 'The bank does not allow our address', 'Token', 25],
    ])('%s: %s', async (name, title, broken, rowsLeft) => {
      const { page } = await open();
      await settled(page);
      await page.getByRole('switch', { name }).click();
      await page.getByRole('heading', { name: title }).waitFor();
      await until(async () => /hop-(warn|bad)/.test((await hop(page, broken).getAttribute('class')) ?? ''));
      // what is not granted any more is taken away here, too; a copy that may still be served stays
      if (rowsLeft === 0) await page.getByRole('heading', { name: 'No accounts to show' }).waitFor();
      expect(await rows(page).count()).toBe(rowsLeft);
      await page.getByRole('button', { name: 'Set all back' }).click();
      gateway.app.get(AppModule).reload();
      await page.getByText('All well').waitFor();
      await page.getByText('1–25 of 120 in all').waitFor();
    });
  });

  it('a switch is turned off, and those beside it stay on', async () => {
    const { page } = await open();
    const isOn = async (name: string) =>
      (await page.getByRole('switch', { name }).getAttribute('aria-checked')) === 'true';
    const names = ['Balances move', 'Bank down', 'Address not white-listed'];
    for (const name of names) {
      await page.getByRole('switch', { name }).click();
      await until(() => isOn(name));
    }
    await page.getByRole('switch', { name: 'Balances move' }).click();
    await until(async () => !(await isOn('Balances move')));
    await page.locator('.switches[aria-busy=false]').waitFor();
    expect(await Promise.all(names.map(isOn))).toEqual([false, true, true]);
  });

  it('a gateway that is away is said, and when it is back the page goes on by itself', async () => {
    const at = { PORT: String(await closedPort()) };
    const first = await startGateway(bank, at);
    await first.get('/api/v1/accounts');
    const { page } = await open('', { gateway: first });
    await settled(page);
    await first.close();
    await page.getByRole('heading', { name: 'Not connected to the gateway' }).waitFor();
    expect(await page.locator('.hop').first().innerText()).toContain('not connected');
    expect(await rows(page).count()).toBe(25);
    await startGateway(bank, at);
    await page.getByText('All well').waitFor();
  });

  it('what the bank sends is text and nothing else, and keeps every digit', async () => {
    const hostile = await startPretendBank();
    hostile.onToken = issueToken(hostile);
    const html = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const balance = { type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: '12345678901234567890.12' };
    hostile.onAccounts = listAccounts([
      sampleAccount(1, { friendlyName: html, ownedByCompanyName: '\u202eevil\u202c {{7*7}}', status: '"><b>x' }),
      sampleAccount(2, { friendlyName: 'javascript:alert(1)', balances: [{ ...balance, intraDayAmount: '0.01' }] }),
      sampleAccount(3, { friendlyName: 'x'.repeat(2000), ownedByCompanyName: 'y'.repeat(2000) }),
    ]);
    const other = await newContext({ viewport: NARROW });
    const before = await startGateway(hostile);
    // until it has read accounts, /health is a 503, which the browser tells as an error
    await before.get('/api/v1/accounts');
    const { page, wrongs } = await open('', { context: other, gateway: before });
    await settled(page);
    expect(await page.getByText(html, { exact: true }).count()).toBe(1);
    expect(await page.locator('.c-owner bdi').first().textContent()).toBe('\u202eevil\u202c {{7*7}}');
    expect(await page.locator('#app img, #app script, #app b').count()).toBe(0);
    expect(await page.title()).toBe('Accounts gateway');
    const exact = page.locator('tr', { hasText: 'javascript:' }).locator('.c-current .amount');
    expect(await exact.textContent()).toBe('12345678901234567890.13');
    expect(await widthOf(page)).toBe(NARROW.width);
    await page.getByText('javascript:alert(1)').click();
    await page.locator('dialog .facts').waitFor();
    expect(await page.locator('dialog .balance .main .amount').textContent()).toBe('12345678901234567890.13');
    expect(await page.evaluate(`document.querySelector('dialog').scrollWidth`)).toBe(NARROW.width);
    expect(wrongs).toEqual([]);
  });
});
