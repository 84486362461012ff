import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as requestPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { AppModule } from '../../src/app.module.js';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import type { ControlPatch } from '../../src/sandbox/control/control-patch.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { openWindow, startBrowser, startClientPages } from '../../test/support/client-pages.js';
import { onClose, temporaryDirectory } from '../../test/support/closing.js';
import { read, readDocument, ROOT } from '../../test/support/documents.js';
import { get, startGateway, type Gateway } from '../../test/support/gateway.js';
import { start } from '../../test/support/sandbox.js';
import { accepts, closedPort, startWebServer } from '../../test/support/servers.js';
import { hasChromium } from '../../test/support/tools.js';
import { until } from '../../test/support/until.js';

const GUIDE = readDocument('docs/web-apps.md');
const CLIENT_PAGE = readDocument('client/README.md');
const GATEWAY = 'http://127.0.0.1:3000';
const BANK_AWAY: ControlPatch = { failNext: [{ endpoint: 'accounts', times: 1_000_000, with: '503' }] };

/** The code blocks under this heading, as printed. */
function codeUnder(heading: string, page = GUIDE): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the page has no ${heading}`);
  return [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}

/** A recipe with another value in one place. Fails if the recipe lacks that place. */
function replace(recipe: string, from: string, to: string): string {
  if (!recipe.includes(from)) throw new Error(`the recipe has no ${from}`);
  return recipe.replaceAll(from, to);
}

let bank: Sandbox;
let gateway: Gateway;
/** The same port for each gateway in this file, so that programs and pages that call one continue with the next. */
let port: number;
/**
 * The example's origin, which makes cross-origin calls to the gateway, and the port of the Vite app, whose first page
 * does the same.
 */
let example: string;
let vitePort: number;
/** An app with the client installed, as printed. */
let app: string;

beforeAll(async () => {
  [bank, port, example] = [await start({ SANDBOX_ACCOUNTS: 40 }), await closedPort(), await startClientPages()];
  vitePort = await closedPort();
  app = temporaryDirectory();
  await serve();
  await install();
  linkPackages();
  await gateway.close();
});
beforeEach(() => serve());
afterEach(() => bank.control.reset());

async function serve(maxAgeMs = 8000): Promise<void> {
  gateway = await startGateway(bank, {
    PORT: String(port),
    SNAPSHOT_FRESH_MS: '500',
    SNAPSHOT_MAX_AGE_MS: String(maxAgeMs),
    CORS_ORIGINS: `${example},http://127.0.0.1:${vitePort}`,
  });
  await gateway.get('/api/v1/accounts');
}

/** Runs a command line in the app without access to a registry: the client has no dependencies. */
function run(line: string): Promise<unknown> {
  const settings = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  return promisify(execFile)('sh', ['-e', '-c', line], { cwd: app, env: { ...process.env, ...settings } });
}

async function install(): Promise<void> {
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  const [commands = ''] = codeUnder('The first minute');
  await run(replace(commands, GATEWAY, gateway.url));
}

/** The packages of the recipes, from this checkout. */
function linkPackages(): void {
  for (const name of PACKAGES) {
    const link = join(app, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}

/** Brings the bank back, and ends the back-off. */
function repair(): void {
  bank.control.reset();
  gateway.app.get(AppModule).reload();
}

it('the client is a file of the app: npm ci installs it without a gateway', async () => {
  const lock = readFileSync(join(app, 'package-lock.json'), 'utf8');
  expect(lock).toContain('file:accounts-gateway-client-');
  expect(lock).not.toContain('127.0.0.1');
  const modules = join(app, 'node_modules');
  const before = readFileSync(join(modules, 'accounts-gateway-client/package.json'), 'utf8');
  rmSync(modules, { recursive: true });
  await gateway.close();
  await run('npm ci --offline');
  expect(readFileSync(join(modules, 'accounts-gateway-client/package.json'), 'utf8')).toBe(before);
  linkPackages();
});

/** The Node that runs npm, which may be older than the one in the lock file: Node 20 in .ci/bare. */
const NODE = process.env['npm_node_execpath'] ?? process.execPath;

/** Starts a program in a separate folder of the app, and waits until this port accepts connections. */
async function startInApp(files: Record<string, string>, command: string[], on: number, env = {}): Promise<void> {
  const directory = createFolder(files);
  const [node = '', ...args] = command;
  const child = spawn(node, args, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onClose(() => {
    child.kill('SIGKILL');
    return ended;
  });
  await until(() => accepts(on));
}

/** A folder of the app with these files, which resolves the client and the recipes' packages from the parent folder. */
function createFolder(files: Record<string, string>): string {
  const directory = mkdtempSync(join(app, 'folder-'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

/** The recipes for pages, as printed, in one app with a page for each. */
function recipeFiles(): Record<string, string> {
  const [, app = '', calls = ''] = codeUnder('The first minute');
  const [config = '', index = '', main = ''] = codeUnder('A live page with Vite');
  const [search = '', useAccounts = '', next = ''] = codeUnder('Components: React, Vue');
  const pageOf = (script: string) => replace(replace(index, '/main.ts', script), '<p role="status">Loading …</p>', '');
  return {
    'tsconfig.json': JSON.stringify(TSCONFIG),
    'vite.config.ts': replace(config, GATEWAY, gateway.url),
    'index.html': index,
    'main.ts': main,
    'App.tsx': replace(app, GATEWAY, gateway.url),
    'react.tsx': REACT_MAIN,
    'react.html': pageOf('/react.tsx'),
    'search.tsx': SEARCH.replace('RECIPE', search),
    'use-accounts.ts': useAccounts,
    'next.config.ts': next,
    'vue.ts': VUE_MAIN,
    'vue.html': pageOf('/vue.ts'),
    'calls.ts': `import { createClient } from 'accounts-gateway-client';\nconst gateway = createClient({ baseUrl: '' });\n${calls}`,
  };
}

it.each<[string, string, string[]]>([
  ['TypeScript 6', 'node_modules/typescript', []],
  ['TypeScript 5.0', 'client/node_modules/typescript', ['tsconfig.old.json']],
])(
  '%s compiles the recipes as printed, and finds a wrong type, with the module settings of bundlers, of Node and of old projects',
  (_name, compiler, old) => {
    const directory = createFolder({
      ...recipeFiles(),
      'types.ts': TYPES,
      'tsconfig.node.json': JSON.stringify({ compilerOptions: NODE_OPTIONS, files: ['types.ts'] }),
      'tsconfig.old.json': JSON.stringify({ compilerOptions: OLD_OPTIONS, files: ['types.ts'] }),
    });
    for (const project of ['tsconfig.json', 'tsconfig.node.json', ...old]) {
      const args = [join(ROOT, compiler, 'bin/tsc'), '-p', project];
      const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
      expect(stdout).toBe('');
    }
  },
);

/** The server of the recipe. Returns its address. */
async function startServer(): Promise<string> {
  const recipe = read('client/example/server.js');
  const own = await closedPort();
  await startInApp({ 'server.js': replace(recipe, '4000', String(own)) }, [NODE, 'server.js'], own, {
    GATEWAY_URL: gateway.url,
  });
  return `http://127.0.0.1:${own}`;
}

it("an app's server has each total with its age, and none after it expires; then errors as JSON", async () => {
  const url = `${await startServer()}/totals`;
  const ask = async () => {
    const { status, json } = await get(url);
    if (status === 200) expect(Date.parse(json.snapshot.expiresAt)).toBeGreaterThan(Date.parse(json.snapshot.asOf));
    return { status, json };
  };
  const { json } = await ask();
  expect(json.totals).toEqual((await gateway.get('/api/v1/balances')).json.totals);
  bank.control.patch(BANK_AWAY);
  await until(async () => (await ask()).json.snapshot?.stale === true);
  // a retry may hit the client's deadline instead
  await until(async () => (await ask()).json.code === 'bank-error', 60_000);
  expect(await ask()).toMatchObject({ status: 502, json: { name: 'GatewayProblem' } });
  repair();
  await until(async () => (await ask()).status === 200);
  await gateway.close();
  expect(await ask()).toMatchObject({ status: 502, json: { code: 'network-error', requestId: null } });
});

it('the tests of an app pass as printed', () => {
  const [, render = '', tests = ''] = codeUnder('Test your app', CLIENT_PAGE);
  const directory = createFolder({ 'render.js': render, 'accounts.test.js': tests });
  const { stdout } = spawnSync(NODE, ['--test', '--test-reporter', 'tap'], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^# pass 3$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});

it('React renders an observer on a server as printed, without a call', () => {
  const [hook = ''] = /useSyncExternalStore\(subscribe, getSnapshot, [^)]*\)/.exec(GUIDE) ?? [];
  const directory = createFolder({ 'render.js': SERVER_RENDER.replace('HOOK', hook) });
  const { stdout, stderr } = spawnSync(NODE, ['render.js'], { cwd: directory, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['loading', '']);
});

it('Vue renders the recipe on a server without a subscription, which nothing there would end', () => {
  const { 'use-accounts.ts': recipe = '' } = recipeFiles();
  const directory = createFolder({ 'use-accounts.ts': recipe, 'render.ts': VUE_SERVER });
  const { status, stdout } = spawnSync(process.execPath, ['render.ts'], {
    cwd: directory,
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect([status, stdout]).toEqual([0, 'loading']);
});

it('Jest runs a test of an app with the pattern as printed', () => {
  const [, pattern = ''] = /transformIgnorePatterns: \['([^']+)'\]/.exec(CLIENT_PAGE) ?? [];
  const transform = { '\\.js$': join(ROOT, 'node_modules/@swc/jest/index.js') };
  const directory = createFolder({
    'package.json': JSON.stringify({ jest: { transformIgnorePatterns: [pattern], transform } }),
    'accounts.test.js': JEST_TEST,
  });
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const { status, stderr } = spawnSync(process.execPath, [jest], { cwd: directory, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^Tests: +1 passed, 1 total$/m)]);
});

const suite = hasChromium() ? describe : describe.skip;

suite('the pages of the recipes', () => {
  let browser: Browser;
  let context: BrowserContext;
  /** The response of the proxy in front of the page without a client; null: the gateway's. */
  let between: { readonly status: number; readonly html: string } | null = null;
  let pages: Record<'vite' | 'react' | 'vue' | 'plain' | 'server' | 'example', Page>;

  beforeAll(async () => {
    const [vite, plain, server] = [await startVite(), await startPlain(), await startServer()];
    browser = await startBrowser();
    context = await openWindow(browser);
    await serve();
    const open = async (address: string) => {
      const page = await context.newPage();
      await page.addInitScript(SAMPLE);
      await page.goto(address);
      return page;
    };
    pages = {
      vite: await open(vite),
      react: await open(`${vite}/react.html`),
      vue: await open(`${vite}/vue.html`),
      plain: await open(plain),
      server: await open(server),
      example: await open(`${example}/client/example/?gateway=${gateway.url}`),
    };
    await gateway.close();
  });
  beforeEach(async () => {
    await allAreWell();
  });
  afterAll(() => browser.close());

  async function startVite(): Promise<string> {
    const vite = [process.execPath, join(ROOT, 'node_modules/vite/bin/vite.js')];
    const args = ['--host', '127.0.0.1', '--port', String(vitePort), '--strictPort', '--logLevel', 'silent'];
    await startInApp(recipeFiles(), [...vite, ...args], vitePort);
    return `http://127.0.0.1:${vitePort}`;
  }

  /** The recipe without a client, behind a reverse proxy. */
  function startPlain(): Promise<string> {
    const [, index = ''] = codeUnder('A live page with Vite');
    const main = read('client/example/without-client.js');
    return startWebServer((request, response) => {
      const send = (type: string, text: string) => response.writeHead(200, { 'content-type': type }).end(text);
      if (request.url === '/') return void send('text/html', replace(index, '/main.ts', '/main.js'));
      if (request.url === '/main.js') return void send('text/javascript', main);
      if (between) return void response.writeHead(between.status, { 'content-type': 'text/html' }).end(between.html);
      return forward(request, response);
    });
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const { url: path = '', method, headers } = request;
    requestPlain({ port, host: '127.0.0.1', path, method, headers: { ...headers, host: `127.0.0.1:${port}` } })
      .on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers)))
      .on('error', () => response.writeHead(502).end())
      .end();
  }

  const sees = (page: Page, condition: string) => waitForSamples(page, condition, 'samples.slice(-1)');
  const hasSeen = (page: Page, condition: string) => waitForSamples(page, condition, 'samples');

  async function waitForSamples(page: Page, condition: string, samples: string): Promise<void> {
    const expression = `${samples}.some(({ amountsShown, aged, text }) => ${condition})`;
    await page.waitForFunction(expression, null, { polling: 100 });
  }
  /** The page shows amounts and no error. */
  const isWell = (page: Page) => sees(page, 'amountsShown > 0 && !aged');
  /** The server's page does not update itself, and always shows the age of its amounts. */
  async function allAreWell(): Promise<void> {
    await until(async () => {
      await pages.server.reload();
      return pages.server.evaluate<boolean>(`document.querySelectorAll('li').length > 0`);
    });
    for (const page of Object.values(pages)) if (page !== pages.server) await isWell(page);
  }

  /** Waits until each page has shown amounts with their age, then none, and verifies what it showed in between. */
  async function assertAgedThenGone(): Promise<void> {
    const all = Object.values(pages);
    await Promise.all(all.map((page) => hasSeen(page, 'amountsShown > 0 && aged')));
    // from here on, no response is in flight
    const end = endOfCache();
    expect(await Promise.all(all.map((page) => amountsAt(page, end)))).toEqual(all.map(() => 0));
    for (const page of all) {
      const samples = await page.evaluate<Sample[]>('samples');
      const from = samples.findIndex(({ amountsShown, aged }) => amountsShown > 0 && aged);
      expect(samples.slice(from).filter(({ amountsShown, aged }) => amountsShown > 0 && !aged)).toEqual([]);
    }
  }
  /** Without a network, each sample after the first error has it too. */
  async function assertErrorStays(page: Page): Promise<void> {
    const texts = (await page.evaluate<Sample[]>('samples')).map(({ text }) => text);
    const hasError = (text: string) => /network-error|No response|Failed to fetch/.test(text);
    expect(texts.slice(texts.findIndex(hasError)).filter((text) => !hasError(text))).toEqual([]);
  }
  /** The amounts on the screen in the first frame after this time, when all timers due by then have run. */
  const amountsAt = (page: Page, at: number) =>
    page.evaluate<number>(`new Promise((resolve) => {
      const look = () => {
        if (Date.now() < ${at}) setTimeout(look, ${at} - Date.now());
        else requestAnimationFrame(() => setTimeout(() => resolve(sample().amountsShown)));
      };
      look();
    })`);
  const forget = () => Promise.all(Object.values(pages).map((page) => page.evaluate('samples.length = 0')));
  /** Now, if it has ended. */
  function endOfCache(): number {
    const { servable, expiresAt } = gateway.app.get(SnapshotService).status();
    return servable && expiresAt ? Date.parse(expiresAt) : Date.now();
  }

  it('while the bank is down, shows balances with their age until they expire, and recovers', async () => {
    await forget();
    bank.control.patch(BANK_AWAY);
    await until(async () => (await gateway.get('/api/v1/accounts')).json.snapshot.stale);
    await assertAgedThenGone();
    repair();
    await allAreWell();
  });

  it('without a network, shows balances with their age until they expire, and recovers', async () => {
    await forget();
    await context.setOffline(true);
    await assertAgedThenGone();
    for (const page of [pages.vite, pages.react, pages.vue, pages.plain, pages.example]) await assertErrorStays(page);
    await context.setOffline(false);
    await allAreWell();
  });

  it('behind a proxy without a gateway, the page shows that; an HTML response is an error, with the age of the amounts', async () => {
    const behindProxy = [pages.vite, pages.vue, pages.plain];
    const allSee = (condition: string) => Promise.all(behindProxy.map((page) => sees(page, condition)));
    const notRunning = 'text.includes("the gateway is not running")';
    // from here on, the amounts outlast the test: each page has seen the end of the gateway whose amounts expire
    await gateway.close();
    await allSee(notRunning);
    await serve(3_600_000);
    await allAreWell();
    await gateway.close();
    await allSee(`amountsShown > 0 && aged && ${notRunning}`);
    await serve(3_600_000);
    for (const answer of [
      { status: 200, html: '<h1>Sign in</h1>' },
      { status: 502, html: '<h1>Bad Gateway</h1>' },
      { status: 503, html: '' },
    ]) {
      between = null;
      await isWell(pages.plain);
      between = answer;
      await sees(pages.plain, 'amountsShown > 0 && aged');
    }
    between = null;
    await isWell(pages.plain);
  });
});

/** A page's content at one moment. */
interface Sample {
  /** Amounts on the screen. */
  readonly amountsShown: number;
  /** True if the age of the amounts is on the screen. */
  readonly aged: boolean;
  readonly text: string;
}

const SAMPLE = `
  globalThis.samples = [];
  const sample = () => {
    const amounts = [...document.querySelectorAll('li, #accounts .amount')];
    const text = [...document.querySelectorAll('p')].map((each) => each.textContent).join(' ');
    const amountsShown = amounts.filter((each) => /\\d/.test(each.textContent)).length;
    return { amountsShown, aged: /as of \\d/i.test(text), text };
  };
  globalThis.sample = sample;
  setInterval(() => samples.push(sample()), 50);`;

const PACKAGES = ['vite', 'react', 'react-dom', 'vue', '@types/react', '@types/react-dom', 'csstype'];

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
};
const NODE_OPTIONS = { ...OPTIONS, module: 'nodenext', types: [] };
/** Without `exports` in package.json. */
const OLD_OPTIONS = { ...OPTIONS, module: 'esnext', moduleResolution: 'node', types: [] };
const TSCONFIG = {
  compilerOptions: {
    ...OPTIONS,
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    types: ['react', 'react-dom'],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  exclude: ['vite.config.ts'],
};

const TYPES = `
import { createClient, isProblem, type Account } from 'accounts-gateway-client';
import { createFakeGateway, fakeAccount } from 'accounts-gateway-client/testing';

const fake = createFakeGateway({ accounts: [fakeAccount({ name: 'Payroll' })] });
const gateway = createClient({ baseUrl: '', fetch: fake.fetch });
export async function namesOf(currency: string): Promise<string[]> {
  try {
    const { accounts } = await gateway.listAccounts({ currency });
    return accounts.map(({ name }: Account) => name);
  } catch (error) {
    return isProblem(error) ? [error.code] : [];
  }
}
export const currencies = gateway.observeBalances({ status: 'Active' }).getSnapshot().data?.totals.map(({ currency }) => currency);
const { getSnapshot } = gateway.observe({ currency: 'EUR' });
export function numberShown(): number {
  const state = getSnapshot();
  switch (state.status) {
    case 'current':
    case 'copy':
      return state.data.accounts.length;
    case 'ended':
      return state.error.status;
    default:
      // @ts-expect-error -- nothing may be shown
      return state.data.accounts.length;
  }
}
// none of the types is any
// @ts-expect-error -- a number is not a currency
void gateway.listAccounts({ currency: 978 });
// @ts-expect-error -- no answer has this code
fake.fail('clock-skewed');
`;

const SERVER_RENDER = `
import { createElement, useSyncExternalStore } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient } from 'accounts-gateway-client';

const { getSnapshot, subscribe } = createClient({ baseUrl: '' }).observe();
process.stdout.write(renderToString(createElement(() => HOOK.status)));
`;

const VUE_SERVER = `
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { useAccounts } from './use-accounts.ts';

const page = createSSRApp({
  setup() {
    const state = useAccounts({ currency: 'EUR' });
    return () => state.value.status;
  },
});
process.stdout.write(await renderToString(page));
`;

const JEST_TEST = `
import { createClient } from 'accounts-gateway-client';
import { createFakeGateway } from 'accounts-gateway-client/testing';

it('shows the accounts', async () => {
  const gateway = createClient({ baseUrl: 'http://gateway.test', fetch: createFakeGateway().fetch });
  expect((await gateway.listAccounts()).accounts).not.toEqual([]);
});
`;

/** As written by `npm create vite`. */
const REACT_MAIN = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import App from './App.tsx';

createRoot(document.querySelector('ul')!).render(<StrictMode><App /></StrictMode>);
`;

const SEARCH = `
import { useSyncExternalStore } from 'react';
import { createClient } from 'accounts-gateway-client';

const gateway = createClient({ baseUrl: '' });
export function Search({ search }: { search: string }) {
  RECIPE
  return status === 'loading' ? null : error?.message ?? data?.page.total;
}
`;

const VUE_MAIN = `
import { createApp, h } from 'vue';
import { formatAmount } from 'accounts-gateway-client';
import { useAccounts } from './use-accounts.ts';

createApp({
  setup() {
    const state = useAccounts({ currency: 'EUR' });
    return () => {
      const { data, asOf, status, error } = state.value;
      const age = asOf && status !== 'current' ? 'As of ' + new Date(asOf).toLocaleTimeString() : '';
      const rows = data?.accounts.map(({ balances }) => h('li', formatAmount(balances[0]?.current)));
      return [h('p', age), h('p', error?.message ?? ''), rows];
    };
  },
}).mount('ul');
`;
