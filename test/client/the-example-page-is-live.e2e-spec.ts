import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { openTab, startBrowser, startClientPages } from '../support/client-pages.js';
import { startGateway } from '../support/gateway.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { accountWith } from '../support/sample-accounts.js';
import { hasChromium } from '../support/tools.js';

const bank = await bankForFile();
/** From now on the bank has these. */
const has = (...accounts: object[]) => (bank.onAccounts = listAccounts(accounts));

const suite = hasChromium() ? describe : describe.skip;

suite('the example page', () => {
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterEach(() => context.close());
  afterAll(() => browser.close());

  async function open(env: Record<string, string> = {}) {
    const url = await startClientPages();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '500', CORS_ORIGINS: url, ...env });
    context = await browser.newContext({ locale: 'en-US' });
    return openTab(context, `${url}/client/example/?gateway=${gateway.url}`);
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
  });

  it('an older copy is marked as one; an error names its owner; both go when the bank is back', async () => {
    has(accountWith(1, 10));
    const { page } = await open({ SNAPSHOT_MAX_AGE_MS: '3000' });
    await showing(page, '1 accounts');
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await showing(page, 'an older copy');
    await showing(page, 'bank must act');
    repair(bank);
    await page.locator('#problem').waitFor({ state: 'hidden', timeout: 40_000 });
    await showing(page, '3 accounts');
  });

  it('accounts that are no longer granted are taken off the screen', async () => {
    has(accountWith(1, 10, { friendlyName: 'Secret savings' }));
    const { page } = await open();
    await showing(page, 'Secret savings');
    bank.onAccounts = (_request, response) => json(response, 404, {});
    await showing(page, 'access-not-granted');
    expect(await page.getByText('Secret savings').count()).toBe(0);
  });
});
