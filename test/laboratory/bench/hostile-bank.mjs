import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { freePort } from './processes.mjs';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A combining character with which `Intl.Collator` takes most of a second to compare two names. */
const SLOW_NAME = '\u0F71'.repeat(3990);

/** One page of names that are slow to compare, a few kilobytes when compressed. */
export const slowNames = () => {
  const result = Array.from({ length: 500 }, (_, index) => toAccount(index, SLOW_NAME));
  const body = gzipSync(JSON.stringify({ result, pageInfo: { currentPage: 1, pageSize: 1000, rowCount: 500 } }));
  return () => ({ headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body });
};

/** 40 pages of 1000 names that are slow to compare. */
export const slowToSort = () => (page) => {
  const number = (index) => (page - 1) * 1000 + index;
  const result = Array.from({ length: page <= 40 ? 1000 : 0 }, (_, index) =>
    toAccount(number(index), `${SLOW_NAME.slice(0, 99)}${number(index)}`),
  );
  const body = JSON.stringify({ result, pageInfo: { currentPage: page, pageSize: 1000, rowCount: 40_000 } });
  return { headers: JSON_TYPE, body };
};

/** A huge row count, and one account on each page. */
export const endlessCount = () => (page) => ({
  headers: JSON_TYPE,
  body: JSON.stringify({
    result: [toAccount(page, `Account ${page}`)],
    pageInfo: { currentPage: page, pageSize: 1000, rowCount: 999_999_999 },
  }),
});

const ordinary = () => ({
  headers: JSON_TYPE,
  body: JSON.stringify({
    result: [toAccount(1, 'Account 1')],
    pageInfo: { currentPage: 1, pageSize: 1000, rowCount: 1 },
  }),
});

/**
 * Starts a bank with the sandbox's certificate. It sends a list of one account, or `pages(number)` while it is hostile.
 * `asked` counts the calls for accounts that it received while hostile.
 */
export async function startHostileBank(bank, pages) {
  const directory = dirname(bank.caFile);
  const read = (name) => readFileSync(join(directory, name));
  const port = await freePort();
  let [isHostile, asked] = [false, 0];
  const server = createServer({ cert: read('server.pem'), key: read('server-key.pem') }, (request, response) => {
    const url = new URL(request.url, 'https://bank');
    if (url.pathname.endsWith('/authorize')) {
      response.writeHead(200, JSON_TYPE);
      response.end(JSON.stringify({ access_token: 'a-token', expires_in: '300', token_type: 'Bearer' }));
      return;
    }
    if (isHostile) asked += 1;
    const { headers, body } = (isHostile ? pages : ordinary)(Number(url.searchParams.get('PageNumber') ?? 1));
    response.writeHead(200, headers);
    response.end(body);
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    settings: { ...bank.settings, BANK_BASE_URL: `https://127.0.0.1:${port}` },
    setHostile: (value) => (isHostile = value),
    asked: () => asked,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const toAccount = (index, name) => ({
  accountId: `account-${index}`,
  accountDescription: name,
  accountIdentifiers: [],
  ibans: [],
  status: 'Active',
  currency: 'EUR',
  balances: [],
  friendlyName: name,
});
