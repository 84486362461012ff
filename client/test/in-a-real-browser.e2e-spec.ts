import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Browser as PuppeteerBrowser } from 'puppeteer-core';
import type * as ClientModule from '../src/index.js';
import { createFakeGateway, playwrightRoute } from '../testing/index.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { bankForFile } from '../../test/support/bank-for-file.js';
import { openTab, openWindow, startBrowser, startClientPages, startFirefox } from '../../test/support/client-pages.js';
import { startGateway, type Gateway } from '../../test/support/gateway.js';
import { MovedClock } from '../../test/support/moved-clock.js';
import { json, listAccounts } from '../../test/support/pretend-bank.js';
import { accountWith } from '../../test/support/sample-accounts.js';
import { start } from '../../test/support/sandbox.js';
import { hasChromium, hasFirefox } from '../../test/support/tools.js';
import { until, WAIT_MS } from '../../test/support/until.js';

declare const client: ClientModule.Client;

const bank = await bankForFile();
/** Sets the bank's accounts. */
const has = (...accounts: object[]) => (bank.onAccounts = listAccounts(accounts));

/** Counts the successful responses of a watch. */
const WATCH = `
  globalThis.polls = 0;
  const count = () => (globalThis.polls += 1);
  client.watch({ pageSize: 2 }, { onData: count, onConfirmed: count });
  undefined`;

(hasFirefox() ? describe : describe.skip)('in Firefox', () => {
  let browser: PuppeteerBrowser;
  beforeAll(async () => {
    browser = await startFirefox();
  });
  afterAll(() => browser.close());

  it('Firefox, too, polls with one preflight, and each later response is a 304', async () => {
    const [sandbox, listed] = [await start(), await startClientPages()];
    const gateway = await startGateway(sandbox, { CORS_ORIGINS: listed, SNAPSHOT_FRESH_MS: '0' });
    const page = await browser.newPage();
    await page.goto(listed);
    // on another host: for another port of the same host, Firefox sends two more
    const baseUrl = gateway.url.replace('127.0.0.1', 'localhost');
    await page.evaluate(`import('/client/src/index.js').then(({ createClient }) => {
      globalThis.client = createClient({ baseUrl: '${baseUrl}', clientName: 'page' });
      ${WATCH}
    })`);
    await page.waitForFunction('polls === 4', { timeout: WAIT_MS });
    const requests = gateway.events('request');
    const statuses = requests.filter(({ method }) => method === 'GET').map(({ status }) => status);
    expect(statuses).toEqual([200, ...statuses.slice(1).fill(304)]);
    expect(requests.filter(({ method }) => method === 'OPTIONS')).toHaveLength(1);
  });
});

const suite = hasChromium() ? describe : describe.skip;

suite('in a real browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  beforeEach(async () => {
    context = await openWindow(browser, { locale: 'en-US' });
  });
  afterEach(() => context.close());
  afterAll(() => browser.close());

  describe('a page of a listed origin', () => {
    let sandbox: Sandbox;
    let listed: string;
    let other: string;
    let clock: MovedClock;
    let gateway: Gateway;

    beforeAll(async () => {
      sandbox = await start();
      [listed, other] = [await startClientPages(), await startClientPages()];
    });

    /** A tab of this origin with a gateway client. */
    async function open(origin: string, env: Record<string, string> = {}): Promise<{ page: Page; errors: string[] }> {
      clock = new MovedClock();
      clock.stop();
      gateway = await startGateway(sandbox, { CORS_ORIGINS: listed, SNAPSHOT_SOFT_TIMEOUT_MS: '14000', ...env }, clock);
      const tab = await openTab(context, origin);
      await tab.page.evaluate(async (baseUrl) => {
        const { createClient } = (await import('/client/src/index.js' as string)) as typeof ClientModule;
        Object.assign(globalThis, { client: createClient({ baseUrl, clientName: 'page' }) });
      }, gateway.url);
      return tab;
    }
    const preflights = () => gateway.events('request').filter(({ method }) => method === 'OPTIONS').length;
    const calls = () => gateway.events('request').filter(({ method }) => method === 'GET');

    it('it reads accounts; a second call is a 304 with the time of the last refresh, without a call to the bank', async () => {
      const { page, errors } = await open(listed);
      const read = () => page.evaluate(() => client.listAccounts({ sort: 'name', pageSize: 5 }));
      const first = await read();
      const plain = (await gateway.get('/api/v1/accounts?pageSize=5')).json;
      expect(first).toEqual(plain);
      clock.advance(3000);
      expect((await read()).snapshot).toEqual(first.snapshot);
      clock.advance(8000);
      const third = await read();
      expect(third.accounts).toEqual(first.accounts);
      expect(Date.parse(third.snapshot.asOf) - Date.parse(first.snapshot.asOf)).toBe(11_000);
      expect(gateway.events('snapshot.refreshed')).toHaveLength(2);
      const named = calls().filter(({ clientName }) => clientName === 'page');
      expect(named.map(({ status }) => status)).toEqual([200, 304, 304]);
      expect(errors).toEqual([]);
    });

    it('it polls once per period for ten minutes with a single preflight; no poll is canceled', async () => {
      // `max-age` is 9, and a poll follows a second after it has run out
      const { page } = await open(listed, { SNAPSHOT_FRESH_MS: '9500' });
      const network = await page.context().newCDPSession(page);
      await network.send('Network.enable');
      const statuses: number[] = [];
      const failed: string[] = [];
      const goodFor: (string | undefined)[] = [];
      network.on('Network.responseReceived', ({ response: { status, headers } }) => {
        statuses.push(status);
        if (status === 204) goodFor.push(headers['access-control-max-age'] ?? headers['Access-Control-Max-Age']);
      });
      network.on('Network.loadingFailed', ({ errorText }) => failed.push(errorText));
      await page.clock.install();
      await page.evaluate(WATCH);
      const polled = (count: number) => until(async () => (await page.evaluate('polls')) === count);
      await polled(1);
      const [minutes, periodMs] = [10, 10_000];
      const polls = 1 + (minutes * 60_000) / periodMs;
      for (let count = 2; count <= polls; count += 1) {
        await page.clock.runFor(periodMs - 1000);
        expect(await page.evaluate('polls')).toBe(count - 1);
        await page.clock.runFor(1000);
        await polled(count);
      }
      expect(statuses.filter((status) => status !== 204)).toEqual([200, ...Array<number>(polls - 1).fill(304)]);
      expect(failed).toEqual([]);
      expect(preflights()).toBe(1);
      expect(goodFor).toEqual([String(minutes * 60)]);
      expect(calls().filter(({ clientName }) => clientName === 'page')).toHaveLength(polls);
    });

    it('a watch pauses in a hidden tab, and polls at once when visible or online again', async () => {
      // longer than the test: only the events can trigger a poll
      const { page } = await open(listed, { SNAPSHOT_FRESH_MS: '290000' });
      await page.evaluate(() => {
        const counts = { data: 0, errors: 0 };
        Object.assign(globalThis, { counts });
        client.watch({ pageSize: 2 }, { onData: () => (counts.data += 1), onError: () => (counts.errors += 1) });
      });
      const asked = () => calls().filter(({ clientName }) => clientName === 'page').length;
      const show = (state: string) =>
        page.evaluate(`
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
      // does not wait for the gateway's log line: the page may not have the response yet, and makes no other call while
      // it waits
      await page.waitForFunction('counts.data === 1');
      await show('hidden');
      expect(asked()).toBe(1);
      await show('visible');
      await until(() => asked() === 2);
      await page.context().setOffline(true);
      await show('visible');
      await page.waitForFunction('counts.errors > 0');
      await page.context().setOffline(false);
      await page.waitForFunction('counts.data === 2');
    });

    it('it gets errors with code and request id; a page of another origin gets a network error, and no account', async () => {
      const problemIn = ({ page }: { page: Page }) =>
        page.evaluate(() =>
          client
            .getAccount('none')
            .catch(({ code, status, requestId }: ClientModule.GatewayProblem) => ({ code, status, requestId })),
        );
      const problem = await problemIn(await open(listed));
      const [requestId] = calls().map((call) => call['requestId']);
      expect(problem).toEqual({ code: 'account-not-found', status: 404, requestId });
      expect(await problemIn(await open(other))).toEqual({ code: 'network-error', status: 0, requestId: null });
      expect(calls().filter(({ status }) => status === 200)).toEqual([]);
    });
  });

  it('playwrightRoute answers the calls of a page; a gateway that is gone is a network error', async () => {
    const fake = createFakeGateway();
    const { page } = await openTab(context, await startClientPages());
    await page.route('**/api/v1/**', playwrightRoute(fake));
    const call = () =>
      page.evaluate(async () => {
        const { createClient } = (await import('/client/src/index.js' as string)) as typeof ClientModule;
        const other = createClient({ baseUrl: 'http://gateway.test' });
        return other.listAccounts({ q: 'payroll' }).then(
          ({ accounts }) => accounts.map(({ name }) => name),
          ({ code }: ClientModule.GatewayProblem) => code,
        );
      });
    expect(await call()).toEqual(['Payroll']);
    fake.fail('access-not-granted');
    expect(await call()).toBe('access-not-granted');
    fake.set('gone');
    expect(await call()).toBe('network-error');
    expect(fake.calls.map(({ status }) => status)).toEqual([200, 502, 0]);
  });

  it('the example page shows a scene of the fake gateway', async () => {
    const { page, errors } = await openTab(context, `${await startClientPages()}/client/example/?scene=down`);
    await page.getByText('8 accounts, an older copy').waitFor();
    expect(errors).toEqual([]);
  });

  it('the example page shows a change without a reload, a hostile name as text, and nothing once access is withdrawn', async () => {
    const name = '<img src=x onerror=alert(1)>';
    has(accountWith(1, 10.5, { friendlyName: name }));
    const url = await startClientPages();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '500', CORS_ORIGINS: url });
    const { page, errors } = await openTab(context, `${url}/client/example/?gateway=${gateway.url}`);
    const showing = (text: string) => page.getByText(text).first().waitFor();
    await showing(name);
    await showing('10.5');
    has(accountWith(1, 1234.56, { friendlyName: name }));
    await showing('1,234.56');
    expect(await page.locator('tr.changed').count()).toBe(1);
    expect(await page.locator('img').count()).toBe(0);
    expect(errors).toEqual([]);
    bank.onAccounts = (_request, response) => json(response, 404, {});
    await showing('access-not-granted');
    expect(await page.getByText(name).count()).toBe(0);
  });
});
