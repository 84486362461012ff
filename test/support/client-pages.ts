import { existsSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { onClose } from './closing.js';
import { ROOT } from './documents.js';
import { CHROMIUM } from './tools.js';
import { startWebServer } from './web-server.js';

const PAGE = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>spec</title>';

/** A real browser. `closeAll` ends it. */
export async function startBrowser(): Promise<Browser> {
  // as root, as which CI runs, Chromium has no sandbox
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  onClose(() => browser.close());
  return browser;
}

/** An origin with an empty page, the sources of the client as modules, and what else the test serves; gives its address. */
export function startClientPages(others: RequestListener = (_request, response) => response.writeHead(404).end()) {
  return startWebServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    if (path === '/') return void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    const source = join(ROOT, path.replace(/\.js$/, '.ts'));
    if (!/^\/client\/(?:src|example)\/[\w/.-]+\.js$/.test(path) || !existsSync(source))
      return others(request, response);
    const { code } = transformSync(readFileSync(source, 'utf8'), { filename: source, swcrc: false, jsc: JSC });
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(code);
  });
}
const JSC = { target: 'es2022', parser: { syntax: 'typescript' } } as const;

/** A tab with this page, and whatever it found worth an error. */
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
