import { readFileSync } from 'node:fs';
import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { builtFile, readBuiltFiles } from '../../config/build-output.js';
import { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { FixedDocument, SendFixedDocument, toDocuments } from '../../representation/fixed-document.js';
import { PAGE_HEADERS } from '../../representation/security-headers.js';

/** The live pages, as built by Vite (src/pages/console/web) and read at startup: a later build may replace the files. */
@ApiExcludeController()
@UseInterceptors(SendFixedDocument)
@Controller()
export class ConsoleController {
  readonly #status: FixedDocument;
  readonly #accounts: FixedDocument;
  /** Their names contain a hash of their content. */
  readonly #assets = toDocuments(readBuiltFiles('console/assets'), 'public, max-age=31536000, immutable');

  constructor({ mode }: Settings) {
    this.#status = readPage('index.html', mode);
    this.#accounts = readPage('accounts.html', mode);
  }

  @Get()
  status(): FixedDocument {
    return this.#status;
  }

  /** The query belongs to the page: it holds the view. */
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

/** The page, marked with the mode before its first call. */
function readPage(name: string, mode: Settings['mode']): FixedDocument {
  const html = readFileSync(builtFile(`console/${name}`), 'utf8');
  return new FixedDocument(html.replace('<html', `<html data-mode="${mode}"`), {
    ...PAGE_HEADERS,
    'cache-control': 'no-cache',
  });
}
