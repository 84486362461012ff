import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

/** A tab with the page, and its violations: errors, policy violations, requests to other hosts. */
export interface Tab {
  readonly page: Page;
  readonly wrongs: readonly string[];
}

const WATCH_POLICY = `addEventListener('securitypolicyviolation', (event) => console.error('CSP: ' + event.violatedDirective))`;

/** Opens a gateway page at `url`; Status without a path. */
export async function openPage(context: BrowserContext, url: string, path = ''): Promise<Tab> {
  const page = await context.newPage();
  const wrongs: string[] = [];
  page.on('pageerror', (error) => wrongs.push(error.message));
  page.on('console', (message) => {
    const { url: from } = message.location();
    // the browser logs each 4xx and 5xx response
    const expected = from.startsWith(`${url}/health`) || from.startsWith(`${url}/api/`);
    if (['error', 'warning'].includes(message.type()) && !expected) wrongs.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) wrongs.push(request.url());
  });
  await page.addInitScript(WATCH_POLICY);
  await page.goto(`${url}/${path}`);
  return { page, wrongs };
}

/** The violations that axe finds, by all rules or by the given ones. */
export async function axeFaultsOf(page: Page, rules?: string[]): Promise<string[]> {
  // the page's content security policy applies to the page's own resources, not to this script
  await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 80)).join(' | ')}`);
}

/** The names of the accounts, which are links. */
export const rowsOf = (page: Page) => page.locator('.open-account');

/** A computed style of the first element that matches. */
export const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);

/** The levels of the path, from the certificate to the apps. */
export const pathOf = (page: Page) =>
  page.locator('.hop').evaluateAll((hops) => hops.map((hop) => /hop-(\w+)/.exec(hop.className)?.[1]));

/** The width of the page, and the cut-off amounts: those wider than a surrounding box that does not scroll. */
export async function layoutOf(page: Page): Promise<{ width: number; cut: string[] }> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.amount')].flatMap((amount) => {
    const { left, right, width } = amount.getBoundingClientRect();
    if (width === 0) return [];
    for (let box = amount.parentElement; box; box = box.parentElement) {
      if (getComputedStyle(box).overflowX === 'auto') return [];
      const outer = box.getBoundingClientRect();
      if (left < outer.left - 1 || right > outer.right + 1) return [amount.textContent];
    }
    return [];
  })`);
  return { width, cut };
}
