import { readFileSync } from 'node:fs';
import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { builtFile, readBuiltFiles } from '../../config/built-file.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { FixedDocument } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';
import { SendFixedDocument } from '../html/send-fixed-document.js';

const LIVE_PAGE_HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** The live pages, as Vite built them (src/pages/console/web). The files are read at the start: a later build may replace them. */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller()
export class ConsoleController {
  readonly #status: FixedDocument;
  readonly #accounts: FixedDocument;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly #assets = new Map([...readBuiltFiles('console/assets')].map(([name, file]) => [name, toAsset(name, file)]));

  constructor({ mode }: Settings) {
    this.#status = readPage('index.html', mode);
    this.#accounts = readPage('accounts.html', mode);
  }

  @Get()
  status(): FixedDocument {
    return this.#status;
  }

  /** The query is the page's own: it holds the view that is shown. */
  @Get('accounts')
  accounts(): FixedDocument {
    return this.#accounts;
  }

  /** @throws GatewayError not-found */
  @Get('assets/:name')
  asset(@Param('name') name: string): FixedDocument {
    const asset = this.#assets.get(name);
    if (!asset) throw new GatewayError('not-found', 'No route has this path.');
    return asset;
  }
}

/** A page that says that it shows the sandbox before it has asked anything. */
function readPage(name: string, mode: Settings['mode']): FixedDocument {
  const html = readFileSync(builtFile(`console/${name}`), 'utf8');
  return new FixedDocument(html.replace('<html', `<html data-mode="${mode}"`), LIVE_PAGE_HEADERS);
}

function toAsset(name: string, file: Buffer): FixedDocument {
  const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`MEDIA_TYPES has no type for ${name}`);
  return new FixedDocument(file, { 'cache-control': 'public, max-age=31536000, immutable', 'content-type': type });
}
