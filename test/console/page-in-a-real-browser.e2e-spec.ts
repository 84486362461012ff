import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { AppModule } from '../../src/app.module.js';
import { Clock } from '../../src/time/clock.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import type { Account } from '../../client/src/index.js';
import { openWindow, startBrowser } from '../support/client-pages.js';
import { read } from '../support/documents.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { hasChromium } from '../support/tools.js';
import { until } from '../support/until.js';
import { axeFaultsOf, layoutOf, openPage, pathOf, rowsOf, styleOf } from './open-page.js';
import { COPY, HOSTILE, PAGE_STATES, type PageState } from './page-states.js';

const FRESH_MS = 1000;
const WIDTHS = [1920, 1280, 768, 360];

const describeWithChromium = hasChromium() ? describe : describe.skip;

describeWithChromium('the console page in a real browser', () => {
  let browser: Browser;
  let bank: Sandbox;
  let gateway: Gateway;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await startBrowser();
    bank = await start();
    // less than the switch causes, and more than a busy machine causes
    const env = { SNAPSHOT_FRESH_MS: String(FRESH_MS), SNAPSHOT_SOFT_TIMEOUT_MS: '6000' };
    gateway = await startGateway(bank, env, new Clock(), bank.control);
    await gateway.get('/api/v1/accounts');
  });
  beforeEach(async () => {
    context = await openWindow(browser, { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  });
  afterEach(async () => {
    await context.close();
    reset();
  });
  afterAll(() => browser.close());

  /** Resets the switches and the back-off that they caused, like `serve --sandbox`. */
  const reset = () => {
    bank.control.reset();
    gateway.app.get(AppModule).reload();
  };

  const open = (search = '') => openPage(context, gateway.url, `accounts${search}`);
  const openStatus = (url = gateway.url) => openPage(context, url);
  const headline = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
  const settled = (page: Page) => rowsOf(page).first().waitFor();
  const searchOf = (page: Page) => new URL(page.url()).search;
  const shownTotals = (page: Page) => page.locator('.totals tbody tr').filter({ visible: true }).count();
  const focusOf = (page: Page) =>
    page.evaluate<string>('document.activeElement.ariaLabel || document.activeElement.textContent');
  const turn = async (page: Page, name: string) => {
    const menu = page.locator('.menu');
    if ((await menu.getAttribute('open')) === null) await menu.locator('summary').click();
    await menu.getByRole('button', { name }).or(menu.getByRole('switch', { name })).click();
  };
  const HEALTHY = /^(?:A call gets|\d+ apps? gets?) current data, read at /;
  const healthy = async (page: Page) => {
    // a page without a call for a minute says so instead
    await gateway.get('/api/v1/accounts');
    await headline(page, HEALTHY);
  };

  it('Status shows at once that everything is healthy; nothing moves, and only the clock ticks', async () => {
    await gateway.get('/api/v1/accounts', { 'x-client-name': 'treasury' });
    const { page, wrongs } = await openStatus();
    await healthy(page);
    await page.locator('.apps tbody tr', { hasText: 'treasury' }).waitFor();
    const shown = await page.locator('body').innerText();
    for (const text of [
      'Made-up accounts',
      'SANDBOX',
      '127.0.0.1',
      hostname(),
      '120 accounts',
      'Renew the certificate by',
      'UTC',
    ]) {
      expect(shown).toContain(text);
    }
    expect(shown).not.toContain('console');
    expect(await page.locator('.minutes g').count()).toBe(60);
    expect(await pathOf(page)).toEqual(Array<string>(6).fill('ok'));
    expect(await page.locator('.incident').count()).toBe(0);
    expect(await page.title()).toBe('Accounts gateway');
    const still = () => page.locator('.well, .path, .minutes').allInnerTexts();
    const [before, clock] = [await still(), await page.locator('.clock').innerText()];
    await until(async () => (await page.locator('.clock').innerText()) !== clock);
    expect(await still()).toEqual(before);
    expect(wrongs).toEqual([]);
  });

  it("Status shows no account's name, IBAN or amount, and loads no code for them; its search opens Accounts", async () => {
    const page = await context.newPage();
    const loaded: { url: string; text: string }[] = [];
    page.on('response', async (response) => {
      const text = await response.text().catch(() => '');
      loaded.push({ url: new URL(response.url()).pathname, text });
    });
    await page.goto(gateway.url);
    await healthy(page);
    await page.locator('.apps, .half p').first().waitFor();
    const { json } = await gateway.get('/api/v1/accounts?pageSize=1000');
    const shown = await page.locator('html').innerHTML();
    for (const { name, iban, balances } of json.accounts as Account[]) {
      const amounts = balances.map(({ current }) => current).filter((text) => text && text.length > 4);
      for (const text of [name, iban, ...amounts]) if (text) expect(shown).not.toContain(text);
    }
    expect(loaded.filter(({ url }) => url.startsWith('/api/'))).toEqual([]);
    const files = loaded.filter(({ url }) => url.startsWith('/assets/'));
    const bytes = files.reduce((sum, { text }) => sum + brotliCompressSync(text).length, 0);
    expect(bytes).toBeLessThan(30_000);
    expect(files.some(({ url }) => url.includes('accounts'))).toBe(false);
    await page.getByRole('searchbox').fill(' nordlys ');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/accounts?q=nordlys');
    await page.getByText(/\d+ found/).waitFor();
  });

  it("over plain HTTP under a host name, where browsers send no Sec-Fetch-Site, the pages' calls do not count as an app's", async () => {
    const named = await startGateway(bank, { ALLOWED_HOSTS: 'gateway.test' });
    const { page } = await openPage(context, `http://gateway.test:${named.port}`, 'accounts?currency=EUR');
    await settled(page);
    const clientsOf = async () =>
      (await named.get('/health/recent', { host: 'gateway.test' })).json.clients as object[];
    expect(await clientsOf()).toEqual([]);
    await named.get('/api/v1/accounts', { host: 'gateway.test', 'x-client-name': 'console' });
    await until(async () => (await clientsOf()).length === 1);
  });

  it('Status fits on one screen at 1280 × 800, with the switches and many apps: the last line sums up, and no bar hides any', async () => {
    for (let app = 1; app <= 40; app += 1) await gateway.get('/api/v1/accounts', { 'x-client-name': `app-${app}` });
    const { page } = await openStatus();
    await page.setViewportSize({ width: 1280, height: 800 });
    await healthy(page);
    const rest = page.locator('.rest');
    await rest.waitFor();
    const rows = page.locator('.apps tbody tr');
    const [all, shown] = [await rows.count(), await rows.filter({ visible: true }).count()];
    expect(await rest.innerText()).toMatch(new RegExp(`^${all - shown} more: .*\\d+ current`));
    const [last, box] = [await rest.boundingBox(), await page.locator('.fit').boundingBox()];
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0) + 1);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
    const heightOf = async (part: string) => (await page.locator(part).first().boundingBox())?.height;
    expect(await heightOf('#sandbox')).toBeLessThan(40);
    expect(await heightOf('.path')).toBeGreaterThan(50);
    expect(await heightOf('.fit')).toBeGreaterThan(150);
    await page.emulateMedia({ media: 'print' });
    expect([await rows.filter({ visible: true }).count(), await rest.isVisible()]).toEqual([all, false]);
  });

  it('Status polls every 10 s while all is well, and every 3 s while something is wrong', async () => {
    await context.addInitScript(`{
      const { setTimeout } = window;
      window.waits = [];
      window.setTimeout = (run, ms) => (window.waits.push(ms), setTimeout(run, ms));
    }`);
    const { page } = await openStatus();
    const waits = () => page.evaluate<number[]>('window.waits');
    await healthy(page);
    expect(await waits()).toEqual(expect.arrayContaining([10_000]));
    expect(await waits()).not.toContain(3000);
    await turn(page, 'Bank down');
    await page.locator('.incident').waitFor();
    await until(async () => (await waits()).includes(3000));
  });

  it('Status on paper has no controls, but the full report and note', async () => {
    const { page } = await openStatus();
    await healthy(page);
    await turn(page, 'Bank down');
    await page.locator('.incident').waitFor();
    const report = page.locator('pre', { hasText: 'Our request' });
    const controls = () => page.locator('button, .button, input, nav, .sandbox').filter({ visible: true }).count();
    expect([await report.isVisible(), (await controls()) > 0]).toEqual([false, true]);
    await page.emulateMedia({ media: 'print' });
    expect([await report.isVisible(), await controls()]).toEqual([true, 0]);
    expect(await styleOf(page, '.legend i', 'printColorAdjust')).toBe('exact');
  });

  it('Accounts shows totals by currency, what they include, and the list', async () => {
    const { page, wrongs } = await open();
    await settled(page);
    await page.getByText('1–25 of 120').waitFor();
    await page.locator('.totals').getByText('Includes').waitFor();
    // one row: the sum of 17 digits takes two of its six columns
    expect(await shownTotals(page)).toBe(5);
    await page.emulateMedia({ media: 'print' });
    expect(await shownTotals(page)).toBe(12);
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('button', { name: '7 more' }).click();
    expect(await shownTotals(page)).toBe(12);
    expect(wrongs).toEqual([]);
  });

  it('axe finds no violation in Accounts with an open account, light and dark', async () => {
    // few rows, because axe is slow for each
    const { page } = await open('?currency=GBP');
    await rowsOf(page).first().click();
    await page.locator('.facts').waitFor();
    expect(await axeFaultsOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFaultsOf(page)).toEqual([]);
  });

  it("each page has the common header: name, icon, links and the gateway's facts", async () => {
    const page = await context.newPage();
    for (const path of ['/', '/accounts', '/docs', '/docs/guide', '/problems', '/problems/bank-error', '/none']) {
      await page.goto(`${gateway.url}${path}`);
      await page.locator('.environment', { hasText: 'Sandbox' }).waitFor();
      await page.locator('#sandbox', { hasText: 'Made-up accounts' }).waitFor();
      const icon = await page.locator('link[rel=icon]').getAttribute('href');
      const header = {
        house: await page.locator('.house').innerText(),
        links: await page.locator('.top nav a').allInnerTexts(),
        gateway: await page.locator('.gateway').innerText(),
        clock: await page.locator('.clock').innerText(),
        icon: icon?.slice(0, 18),
      };
      expect([path, header]).toEqual([
        path,
        {
          house: 'Accounts gateway',
          links: ['Status', 'Accounts', 'API', 'Guide', 'Errors'],
          gateway: expect.stringMatching(/^127\.0\.0\.1:\d+ · .+ · v\d/),
          clock: expect.stringMatching(/^\d\d:\d\d:\d\d UTC$/),
          icon: 'data:image/svg+xml',
        },
      ]);
    }
  });

  it('axe finds no violation in the documents, light on a wide screen and dark on a phone', async () => {
    const page = await context.newPage();
    for (const path of [
      '/docs',
      '/problems',
      '/problems/bank-error',
      '/docs/guide/architecture',
      '/docs/guide/deploy',
    ]) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${gateway.url}${path}`);
      expect([path, await axeFaultsOf(page)]).toEqual([path, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 900 });
      expect([path, await axeFaultsOf(page, ['color-contrast', 'target-size'])]).toEqual([path, []]);
    }
  });

  it("documents show commands with the reader's own address, and a button to copy them", async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { page, wrongs } = await openPage(context, gateway.url, 'docs');
    const command = page.locator('.copyable', { hasText: 'curl' }).first();
    expect(await command.locator('pre').innerText()).toContain(`curl ${gateway.url}/api/v1/accounts`);
    await command.getByRole('button', { name: 'Copy' }).click();
    await command.getByText('Copied').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(gateway.url);
    await page.goto(`${gateway.url}/docs/guide/web-apps`);
    const link = page.locator('main p a', { hasText: gateway.url });
    expect(await link.first().getAttribute('href')).toBe(`${gateway.url}/`);
    expect(wrongs).toEqual([]);
  });

  it('the guide has a search, which leads to a part of a page; the API has its examples beside the text', async () => {
    const { page, wrongs } = await openPage(context, gateway.url, 'docs/guide/deploy');
    await page.getByRole('searchbox', { name: 'Search the guide' }).fill('renew certificate');
    await page.locator('.found a').first().click();
    await page.waitForURL(/\/docs\/guide\/certificates#/);
    await page.goto(`${gateway.url}/docs`);
    const [text, example] = await Promise.all(
      [1, 2].map((child) => page.locator(`.operation > :nth-child(${child})`).first().boundingBox()),
    );
    expect([text?.y, (example?.x ?? 0) > (text?.x ?? 0) + (text?.width ?? 0)]).toEqual([example?.y, true]);
    expect(wrongs).toEqual([]);
  });

  it('a copy button keeps the focus if the browser has no clipboard, as over plain HTTP', async () => {
    await context.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    const { page } = await open();
    const copy = page.getByRole('button', { name: 'Copy the totals' });
    await copy.click();
    expect(await focusOf(page)).toBe('Copy the totals');
    await copy.getByText(/Copied|Copying is blocked/).waitFor();
  });

  /** Opens Accounts of a gateway in this state, and asserts that nothing is cut off at any width. */
  async function openState(state: keyof typeof PAGE_STATES) {
    const { arrange }: PageState = PAGE_STATES[state];
    const { url } = await arrange();
    const tab = await openPage(context, url, 'accounts');
    await settled(tab.page);
    await tab.page.locator('.totals :is(td, p)').first().waitFor();
    for (const width of WIDTHS) {
      await tab.page.setViewportSize({ width, height: 900 });
      expect(await layoutOf(tab.page)).toEqual({ width, cut: [] });
    }
    return tab;
  }

  it('nothing is cut off in Accounts at any width during an incident, and the tab shows it', async () => {
    const { page, wrongs } = await openState('the bank fails');
    expect(wrongs).toEqual([]);
    await until(async () => (await page.title()) === 'The bank returned a server error · Accounts · Accounts gateway');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain(encodeURIComponent('#8f5400'));
  });

  it('nothing that a hostile bank sends is cut off, and it is shown as text with every digit', async () => {
    const { page, wrongs } = await openState('names are hostile and amounts long');
    expect(await page.getByText(HOSTILE.name, { exact: true }).count()).toBe(1);
    expect(await page.locator('.owner bdi').first().textContent()).toBe(HOSTILE.owner);
    expect(await page.locator('main img, main script, main table b').count()).toBe(0);
    expect(await page.title()).toBe('Accounts · Accounts gateway');
    const row = page.locator('tr', { hasText: 'javascript:' });
    expect(await row.locator('.c-current .amount').textContent()).toBe(HOSTILE.current);
    expect(await row.locator('.c-today .amount').textContent()).toBe('-0.01');
    await row.locator('a').click();
    await page.locator('dialog .facts').waitFor();
    expect(await page.locator('dialog .balance .main .amount').textContent()).toBe(HOSTILE.current);
    expect((await layoutOf(page)).cut).toEqual([]);
    expect(wrongs).toEqual([]);
  });

  it('when the gateway is unreachable, the shown data stay and can be filtered, counters stop, and the page recovers later', async () => {
    const env = { PORT: String(await closedPort()), SNAPSHOT_FRESH_MS: String(FRESH_MS) };
    const first = await startGateway(bank, env);
    await first.get('/api/v1/accounts', { 'x-client-name': 'treasury' });
    const { page } = await openPage(context, first.url, 'accounts');
    await settled(page);
    const { page: status } = await openStatus(first.url);
    await status.locator('.apps tbody tr').waitFor();
    await first.close();
    await headline(status, 'The gateway does not answer.');
    // the guide has them too, but the gateway that serves it is down
    const commands = await status.locator('.incident code').allTextContents();
    expect(commands.length).toBe(3);
    for (const command of commands) expect(read('docs/troubleshooting.md')).toContain(`\`${command}\``);
    const note = await status.locator('.incident pre').textContent();
    expect(note).toMatch(/^accounts-gateway .*\n\nThe gateway does not answer\./);
    expect(note).toContain('until snapshot.expiresAt');
    expect(await status.getByRole('button', { name: 'Copy note' }).count()).toBe(1);
    expect(await pathOf(status)).toEqual(Array<string>(6).fill('unknown'));
    expect(await status.locator('.apps tbody tr').count()).toBe(1);
    expect(await styleOf(status, '.gone .apps tbody th', 'color')).toBe(await styleOf(status, '.gateway', 'color'));
    expect(await axeFaultsOf(status)).toEqual([]);
    await page.getByText(/^The gateway has not answered since/).waitFor();
    expect(await rowsOf(page).count()).toBe(25);
    expect(await axeFaultsOf(page, ['color-contrast'])).toEqual([]);
    await page.locator('#search').fill('nordlys');
    await page.getByText(/^\d+ of the last 25 accounts loaded; the gateway does not answer$/).waitFor();
    expect(await shownTotals(page)).toBe(5);
    await page.locator('#search').fill('');
    const second = await startGateway(bank, env);
    await second.get('/api/v1/accounts', { 'x-client-name': 'treasury' });
    await headline(status, HEALTHY);
    await page.getByText(/^The gateway has not answered since/).waitFor({ state: 'hidden' });
  });

  it('expired amounts do not return with the gateway; the page fetches new ones at once, whatever Retry-After said', async () => {
    const env = { SNAPSHOT_FRESH_MS: '500', SNAPSHOT_MAX_AGE_MS: '4000' };
    const short = await startGateway(bank, env);
    await short.get('/api/v1/accounts');
    const { page } = await openPage(context, short.url, 'accounts');
    await settled(page);
    // the next attempt is at least 30 s later
    bank.control.patch({ allowedIps: ['203.0.113.1'], failNext: [{ endpoint: 'accounts', times: 1, with: '401' }] });
    await page.getByText(/The balances expired at/).waitFor();
    await page.getByRole('heading', { name: 'No accounts to show' }).waitFor();
    expect(await axeFaultsOf(page)).toEqual([]);
    const held = Promise.withResolvers<void>();
    await page.route('**/api/v1/**', (route) => held.promise.then(() => route.continue()));
    const asked = page.waitForRequest('**/api/v1/accounts**');
    bank.control.reset();
    short.app.get(AppModule).reload();
    await until(async () => (await short.get('/api/v1/accounts')).status === 200);
    await asked;
    expect(await page.locator('.amount').count()).toBe(0);
    expect(await page.getByText(/The balances expired at/).count()).toBe(1);
    held.resolve();
    await settled(page);
    await page.getByText(/The balances expired at/).waitFor({ state: 'hidden' });
    // they disappear too when the gateway is unreachable
    await short.close();
    await page.getByText(/^The gateway has not answered since .* The balances expired at/).waitFor();
    expect(await page.locator('.amount').count()).toBe(0);
  });

  it('the focus stays in place while pages turn', async () => {
    const { page } = await open('?pageSize=50');
    await settled(page);
    const next = page.getByRole('link', { name: 'Next page' });
    await next.focus();
    for (const text of ['51–100 of 120', '101–120 of 120', '101–120 of 120']) {
      await page.keyboard.press('Enter');
      await page.getByText(text).waitFor();
      expect(await focusOf(page)).toBe('Next page');
    }
    expect(await next.getAttribute('aria-disabled')).toBe('true');
  });

  describe('the address bar', () => {
    it('contains the view, which returns with the address and with back and forward', async () => {
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
      const names = await rowsOf(page).allInnerTexts();

      const { page: again } = await open(searchOf(page));
      await settled(again);
      expect(await rowsOf(again).allInnerTexts()).toEqual(names);
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

    it('contains the page number and the open account; another filter starts at the first page', async () => {
      const { page } = await open('?pageNumber=2&pageSize=50');
      await page.getByText('51–100 of 120').waitFor();
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.getByText('101–120 of 120').waitFor();
      await page.locator('.totals a').first().click();
      await until(() => searchOf(page) === '?currency=BHD&pageSize=50');
      await rowsOf(page).first().click();
      await until(() => searchOf(page).includes('account='));
      const { page: shared } = await open(searchOf(page));
      await shared.locator('body .facts').waitFor();
      await shared.getByRole('button', { name: 'Close' }).click();
      await until(() => searchOf(shared) === '?currency=BHD&pageSize=50');
    });

    it('is not trusted: an unknown account or page is reported, with a way back', async () => {
      const { page } = await open('?account=none');
      await page.getByText('No account to show').waitFor();
      await page.goto(`${gateway.url}/accounts?pageNumber=99`);
      await page.getByRole('button', { name: 'To the first page' }).click();
      await page.getByText('1–25 of 120').waitFor();
      await page.goto(`${gateway.url}/accounts?q=zzzzzz`);
      await page.getByRole('button', { name: 'Show all accounts' }).click();
      await page.getByText('1–25 of 120').waitFor();
    });
  });

  it('the file name of a CSV contains environment, filters and time', async () => {
    const { page } = await open('?q=nordlys&currency=EUR&sort=-current');
    await settled(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^accounts_Sandbox_nordlys_currency-EUR_\d{4}-\d\d-\d\dT\d{6}Z\.csv$/);
    const { text } = await gateway.get('/api/v1/accounts?q=nordlys&currency=EUR&sort=-current&format=csv');
    const withoutTime = (csv: string) => csv.replaceAll(/,[^,]*\r\n/g, '\r\n');
    expect(withoutTime(readFileSync(await download.path(), 'utf8'))).toBe(withoutTime(text));
  });

  it('changes at the bank appear without a reload, and changed rows are marked', async () => {
    const { page, wrongs } = await open();
    await settled(page);
    const amounts = () => page.locator('td.c-current').allInnerTexts();
    const before = await amounts();
    await turn(page, 'Balances move');
    await until(async () => (await amounts()).join() !== before.join());
    // with reduced motion, like all these tests; in one step, because a mark may disappear before the next
    const isMarked = `[...document.querySelectorAll('td .changed')].some((each) => getComputedStyle(each).animationName === 'changed')`;
    await until(() => page.evaluate<boolean>(isMarked));
    expect(wrongs).toEqual([]);
  });

  describe('an incident', () => {
    it('shows within seconds what apps get, who must act and what to do, and ends again', async () => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const { page } = await openStatus();
      await healthy(page);
      const announced = page.locator('main > [role=status]');
      const first = await page.getByRole('heading', { level: 1 }).innerText();
      await until(async () => {
        // a copy younger than a second counts as new
        await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
        await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
        return (await page.getByRole('heading', { level: 1 }).innerText()) !== first;
      });
      // the negative case: a new time alone does not change the state
      expect(await announced.textContent()).toBe('');
      await turn(page, 'Bank down');
      await headline(page, COPY);
      expect(await announced.textContent()).toMatch(COPY);
      const card = page.locator('.incident');
      await until(async () => /next in|next with the next call/.test(await card.innerText()));
      const text = await card.innerText();
      for (const part of ['The bank answers', '503', 'since', 'until calls fail with 503'])
        expect(text).toContain(part);
      expect(await card.getByRole('link', { name: 'Runbook' }).getAttribute('href')).toBe('/problems/bank-error');
      expect(await card.getByRole('meter').getAttribute('aria-valuemax')).toBe('300');
      await page.locator('.hop-main', { hasText: '503 since' }).waitFor();
      await until(async () => (await page.title()).endsWith('· Accounts gateway'));
      await page.getByRole('button', { name: 'Copy report' }).click();
      await card.getByText('Copied').waitFor();
      const report = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(report).toMatch(/Response +HTTP status 503\n/);
      expect(report).toMatch(/Its thumbprint +[0-9A-F]{40} \(SHA-1\)/);
      await page.getByRole('button', { name: 'Copy note' }).click();
      await until(async () => (await page.evaluate<string>('navigator.clipboard.readText()')) !== report);
      await turn(page, 'Bank down');
      gateway.app.get(AppModule).reload();
      await healthy(page);
      expect(await page.title()).toBe('Accounts gateway');
    });

    it('caused by any switch appears within seconds, and Reset ends it', async () => {
      const { page } = await openStatus();
      for (const [name, sentence] of [
        ['Bank slow', /^The bank is slow\. .* copies up to \d+ s old, marked stale\.$/],
        ['Wrong password', /^Apps get the copy of/],
        ['No accounts granted', /^All calls (?:have failed|fail) with 502/],
        ['Not on the allowlist', /^Apps get the copy of/],
        ['Empty list', 'Apps get an empty list of accounts.'],
      ] as const) {
        await healthy(page);
        await turn(page, name);
        await page.getByRole('status').getByText(`${name}: on.`, { exact: true }).waitFor({ state: 'attached' });
        await headline(page, sentence);
        await turn(page, 'Reset');
        await page.getByRole('status').getByText('All switches are reset.').waitFor({ state: 'attached' });
        await until(() => bank.control.state.failNext.length === 0);
        gateway.app.get(AppModule).reload();
      }
      await healthy(page);
    });

    it('that withdraws the grant removes the accounts from the page, and Reset restores them', async () => {
      const { page } = await open();
      await settled(page);
      await turn(page, 'No accounts granted');
      await until(async () => (await rowsOf(page).count()) === 0);
      await page.getByText(/^All calls have failed with 502 since/).waitFor();
      await turn(page, 'Reset');
      gateway.app.get(AppModule).reload();
      await page.getByText('1–25 of 120').waitFor();
    });
  });
});
