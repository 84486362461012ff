import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { read, ROOT } from './documents.js';
import { pathOf } from './tools.js';
import { startWebServer } from './servers.js';
import { WAIT_MS } from './until.js';

const PAGE = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>spec</title>';

/** A real browser that resolves every name under `.test` to this machine. The suite closes it. */
export function startBrowser(): Promise<Browser> {
  // CI runs as root, where Chromium needs --no-sandbox
  const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1'];
  return chromium.launch({ executablePath: pathOf('chromium'), args });
}

/** Firefox, through WebDriver BiDi. The suite closes it. */
export const startFirefox = () =>
  puppeteer.launch({ browser: 'firefox', executablePath: pathOf('firefox-esr'), headless: true });

/** A separate window whose waits time out as late as those of `until`. */
export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_MS);
  return context;
}

/** Serves an empty page, the client, its example, and the pages of the test. Returns the address. */
export function startClientPages(others: RequestListener = (_request, response) => response.writeHead(404).end()) {
  return startWebServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    if (path === '/') return void response.writeHead(200, HTML).end(PAGE);
    if (path === '/client/example/') return void response.writeHead(200, HTML).end(read('client/example/index.html'));
    if (path === '/client/example/app.js') return void response.writeHead(200, SCRIPT).end(read(path));
    // a bundle, which only the build creates
    if (path === '/client/dist/testing.js') return void response.writeHead(200, SCRIPT).end(read(path));
    // compiled from the source
    const source = path.replace(/^\/client\/dist\//, '/client/src/').replace(/\.js$/, '.ts');
    if (!/^\/client\/src\/[\w/.-]+\.ts$/.test(source) || !existsSync(join(ROOT, source)))
      return others(request, response);
    const { code } = transformSync(read(source), { filename: source, swcrc: false, jsc: JSC });
    response.writeHead(200, SCRIPT).end(code);
  });
}
const HTML = { 'content-type': 'text/html; charset=utf-8' };
const SCRIPT = { 'content-type': 'text/javascript; charset=utf-8' };
const JSC = { target: 'es2022', parser: { syntax: 'typescript' } } as const;

/** A tab with this page, and its errors, uncaught or logged. */
export async function openTab(context: BrowserContext, url: string): Promise<{ page: Page; errors: string[] }> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(url);
  return { page, errors };
}
