import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { openTab, startBrowser, startClientPages } from '../support/client-pages.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { accountWith } from '../support/sample-accounts.js';
import { hasChromium } from '../support/tools.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
/** From now on the bank has these. */
const has = (...accounts: object[]) => (bank.onAccounts = listAccounts(accounts));

const suite = hasChromium() ? describe : describe.skip;

suite('the example page', () => {
  let browser: Browser;
  let context: BrowserContext;
  let gateway: Gateway;
  let address: string;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterEach(() => context.close());
  afterAll(() => browser.close());

  /** The page in a tab of its own, of the same browser and gateway as the tabs before it in this test. */
  const openOne = () => openTab(context, address);
  async function open() {
    const url = await startClientPages();
    gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '500', CORS_ORIGINS: url });
    address = `${url}/client/example/?gateway=${gateway.url}`;
    context = await browser.newContext({ locale: 'en-US' });
    return openOne();
  }
  const showing = (page: Page, text: string) => page.getByText(text).first().waitFor({ timeout: 15_000 });

  it('shows accounts and sums; a change at the bank without a reload; a hostile name as text; every digit', async () => {
    const name = '<img src=x onerror=alert(1)>';
    has(accountWith(1, 10.5, { friendlyName: name }));
    const { page, errors } = await open();
    await showing(page, name);
    await showing(page, '10.5');
    has(accountWith(1, 1234.56, { friendlyName: name }));
    await showing(page, '1,234.56');
    expect(await page.locator('tr.changed').count()).toBe(1);
    expect(await page.locator('img').count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
    await until(() => gateway.events('stream.ended').length === 1);
  });

  it('three of them hold one stream; when its tab is closed another has it, and all are told', async () => {
    has(accountWith(1, 10));
    const tabs = [await open(), await openOne(), await openOne()];
    for (const { page } of tabs) await showing(page, '1 accounts');
    const streams = () => gateway.events('request').filter(({ stream }) => stream === true).length;
    expect(streams()).toBe(1);
    await tabs[0]?.page.close();
    await until(() => streams() === 2);
    has(accountWith(1, 77_001));
    for (const { page } of tabs.slice(1)) await showing(page, '77,001');
    expect([streams(), gateway.events('stream.ended').length]).toEqual([2, 1]);
  });

  it('says who must act while the bank is away, and takes it back', async () => {
    has(accountWith(1, 10));
    const { page } = await open();
    await showing(page, '1 accounts');
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await showing(page, 'bank-error, bank must act');
    await showing(page, 'an older copy');
    repair(bank);
    await page.locator('#problem').waitFor({ state: 'hidden', timeout: 20_000 });
  });
});
