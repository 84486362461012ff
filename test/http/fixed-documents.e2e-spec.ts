import { once } from 'node:events';
import { connect } from 'node:net';
import { createHook } from 'node:async_hooks';
import { beforeAll, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { connectionsOf } from '../support/common-conditions.js';
import { get, startGateway, type Gateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
const MB = 1024 * 1024;
const CONNECTIONS = 300;
const REQUESTS = 8;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway(bank);
  // what exists from the start is compressed in the background, one after the other; these are among the last
  for (const path of ['/', '/accounts', '/problems', '/docs/guide.css', '/docs/page.js']) {
    for (const encoding of ['br', 'gzip']) await get(`${gateway.url}${path}`, { 'accept-encoding': encoding });
  }
});

/** Requests a document 8 times at once on a new connection, repeatedly. Returns the number of bytes received. */
async function ask(path: string, rounds: number): Promise<number> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' });
  let [bytes, answers] = [0, 0];
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    answers += chunk.toString('latin1').split('HTTP/1.1 200 ').length - 1;
  });
  for (let round = 1; round <= rounds; round++) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\n\r\n`.repeat(REQUESTS));
    const wanted = round * REQUESTS;
    await until(() => answers >= wanted);
  }
  socket.destroy();
  await once(socket, 'close');
  return bytes;
}

/** Counts the compressors created until the returned function is called. */
function countCompressors(): () => number {
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (count += Number(type === 'ZLIB')) }).enable();
  return () => {
    hook.disable();
    return count;
  };
}

it('the negative case: a download is compressed per request', async () => {
  const compressors = countCompressors();
  await get(`${gateway.url}/api/v1/accounts?format=csv`, { 'accept-encoding': 'br' });
  expect(compressors()).toBe(1);
});

it.each(['/openapi.json', '/docs', '/docs/guide', '/problems', '/'])(
  '%s on 300 connections at once is not compressed per request, and memory does not grow',
  async (path) => {
    const asked = { 'accept-encoding': 'br' };
    expect((await get(`${gateway.url}${path}`, asked)).headers['content-encoding']).toBe('br');
    const compressors = countCompressors();
    const before = process.memoryUsage().external;
    let most = 0;
    const looks = setInterval(() => (most = Math.max(most, process.memoryUsage().external - before)), 20);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(path, 2)));
    clearInterval(looks);
    expect(compressors()).toBe(0);
    // each compressor takes half a megabyte
    expect(most).toBeLessThan(100 * MB);
    await until(async () => (await connectionsOf(gateway)) === 0);
  },
);
