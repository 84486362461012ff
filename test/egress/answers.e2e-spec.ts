import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { toAnswerError } from '../../src/egress/answer-error.js';
import type { Egress } from '../../src/egress/egress.js';
import { type Authority, createAuthority } from '../support/authority.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { json, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { startRawServer, startTlsServer } from '../support/servers.js';

let authority: Authority;
beforeAll(async () => {
  authority = createAuthority('Bank CA');
});

const BODY = JSON.stringify({ result: [], text: 'x'.repeat(5000) });
const PACKED = gzipSync(BODY);

interface Bank {
  readonly url: string;
  readonly egress: Egress;
}

/** A bank that returns these bytes, and an egress with an earlier successful call. */
async function startBank(
  onRequest: (socket: TLSSocket, raw: Socket) => void,
  maxResponseBytes = 1_000_000,
): Promise<Bank> {
  let asked = 0;
  const server = await startTlsServer(authority.server(['localhost']), (socket) => {
    socket.on('data', () => {
      asked += 1;
      if (asked === 1) socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
      else onRequest(socket, [...server.sockets].find((raw) => raw.remotePort === socket.remotePort) ?? socket);
    });
  });
  const url = `https://localhost:${server.port}`;
  const egress = createEgress(
    { ...authority.client('a client'), ca: authority.pem },
    { BANK_MAX_RESPONSE_BYTES: maxResponseBytes, BANK_REQUEST_TIMEOUT_MS: 15_000 },
  );
  await egress.get(accountsAt(url));
  return { url, egress };
}

const answer = (header: string, body: Buffer | string = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${header}\r\n`), Buffer.from(body)]);
const chunk = (body: Buffer | string) =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(body).toString(16)}\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
const HINT = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

describe('a complete response', () => {
  test.each([
    ['with Content-Length', answer(`Content-Length: ${BODY.length}\r\n`, BODY)],
    ['chunked', answer(CHUNKED, Buffer.concat([chunk(BODY), chunk('')]))],
    ['gzip', answer(`Content-Encoding: gzip\r\nContent-Length: ${PACKED.length}\r\n`, PACKED)],
    ['gzip, chunked', answer(`Content-Encoding: GZIP\r\n${CHUNKED}`, Buffer.concat([chunk(PACKED), chunk('')]))],
    [
      'chunked, with a Content-Length beside it',
      answer(`Content-Length: 7\r\n${CHUNKED}`, Buffer.concat([chunk(BODY), chunk('')])),
    ],
    [
      'with a header of 20 KB',
      answer(`Set-Cookie: ${'x'.repeat(2000)}\r\n`.repeat(10) + `Content-Length: ${BODY.length}\r\n`, BODY),
    ],
    ['up to the end of the connection', answer('Connection: close\r\n', BODY)],
    [
      'after early hints',
      Buffer.concat([
        Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
        answer('Connection: close\r\n', BODY),
      ]),
    ],
  ])('%s is read as it is', async (_name, bytes) => {
    const { url, egress } = await startBank((socket) => socket.end(bytes));
    const { status, body } = await egress.get(accountsAt(url));
    expect({ status, body: body.toString() }).toEqual({
      status: 200,
      body: BODY,
    });
  });

  test.each([204, 206, 304])('of status %i is returned without interpretation', async (status) => {
    const { url, egress } = await startBank((socket) =>
      socket.write(
        `HTTP/1.1 ${status} Whatever\r\nContent-Encoding: gzip\r\n${status === 206 ? 'Content-Length: 0\r\n' : ''}\r\n`,
      ),
    );
    expect((await egress.get(accountsAt(url))).status).toBe(status);
  });
});

describe('a response that is bank-response-invalid', () => {
  test.each([
    ['cut off, Content-Length', answer('Content-Length: 6000\r\n', BODY)],
    ['cut off, chunked', answer(CHUNKED, chunk(BODY))],
    ['cut off, gzip', answer('Content-Encoding: gzip\r\nConnection: close\r\n', PACKED.subarray(0, 40))],
    ['gzip without its check sum', answer('Content-Encoding: gzip\r\nConnection: close\r\n', PACKED.subarray(0, -8))],
    ['gzip that is none', answer('Content-Encoding: gzip\r\nConnection: close\r\n', BODY)],
    ['Content-Length twice', answer('Content-Length: 2\r\nContent-Length: 3\r\n', '{}x')],
    ['no HTTP', 'hello\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'],
    ['a header without an end', `HTTP/1.1 200 OK\r\n${'X-Flood: 0123456789abcdef\r\n'.repeat(100_000)}`],
  ])('%s', async (_name, bytes) => {
    const { url, egress } = await startBank((socket) => socket.end(bytes));
    expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
      code: 'bank-response-invalid',
      owner: 'bank',
      status: 502,
    });
  });
});

test.each([
  ['two lengths', answer('Content-Length: 2\r\nContent-Length: 2\r\n', '{}'), 'has two Content-Length headers (HPE_'],
  ['no HTTP', 'hello\r\n\r\n', 'does not begin like HTTP (HPE_'],
  ['a header of 100 KB', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`, 'larger than 65536 bytes (HPE_'],
  [
    'half of a gzip',
    answer('Content-Encoding: gzip\r\nConnection: close\r\n', PACKED.subarray(0, 40)),
    'no end (Z_BUF_',
  ],
])('a response with %s is reported in words', async (_name, bytes, words) => {
  const { url, egress } = await startBank((socket) => socket.end(bytes));
  expect((await failureOf(egress.get(accountsAt(url)))).detail).toContain(words);
});

test.each([
  ['br', 'Content-Encoding br that'],
  ['ZSTD', 'Content-Encoding zstd that'],
  ['secret-encoding', 'Content-Encoding that'],
])('Content-Encoding %s was not requested, and is named if it is a known one', async (encoding, words) => {
  const { url, egress } = await startBank((socket) =>
    socket.end(answer(`Content-Encoding: ${encoding}\r\nConnection: close\r\n`, BODY)),
  );
  expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
    code: 'bank-response-invalid',
    detail: expect.stringContaining(words),
  });
});

test('a body in very many tiny pieces is not read to the end', async () => {
  const tiny = Buffer.from('1\r\n \r\n'.repeat(1000));
  let sent = 0;
  const { url, egress } = await startBank((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(tiny)) sent += 1000;
    };
    socket.on('drain', pour);
    socket.write(answer(CHUNKED));
    pour();
  }, 100_000_000);
  expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
    code: 'bank-response-invalid',
    detail: expect.stringContaining('65536 pieces'),
  });
  expect(sent).toBeGreaterThan(65_536);
});

test('more than 100 early hints are invalid, and are not read to the end', async () => {
  const { url, egress } = await startBank((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(HINT.repeat(1000)));
    };
    socket.on('drain', pour);
    pour();
  });
  expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
    code: 'bank-response-invalid',
    detail: expect.stringContaining('100 responses of status 1xx'),
  });
});

describe('a response that is too large', () => {
  const LIMIT = 1_000_000;
  const endless = (socket: TLSSocket, head: string) => {
    const block = Buffer.alloc(65_536, 'x');
    const pour = () => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', pour);
    socket.write(head);
    pour();
  };

  test.each([
    ['10 GB announced', (socket: TLSSocket) => socket.write(answer('Content-Length: 10737418240\r\n', '{'))],
    ['without an end', (socket: TLSSocket) => endless(socket, answer('Connection: close\r\n').toString())],
    ['a gzip bomb', (socket: TLSSocket) => socket.end(answer('Content-Encoding: gzip\r\nConnection: close\r\n', BOMB))],
  ] as const)('%s', async (_name, onRequest) => {
    const { url, egress } = await startBank(onRequest, LIMIT);
    const memory = process.memoryUsage().rss;
    expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
      code: 'bank-response-invalid',
      detail: expect.stringContaining('BANK_MAX_RESPONSE_BYTES'),
    });
    expect(process.memoryUsage().rss - memory).toBeLessThan(32 * 2 ** 20);
  });

  /** 200 KB that decompress to 200 MB. */
  const BOMB = gzipSync(Buffer.alloc(200 * 2 ** 20));

  test('the negative case: a response of exactly the limit is accepted', async () => {
    const body = Buffer.alloc(LIMIT, ' ');
    const { url, egress } = await startBank(
      (socket) => socket.end(answer(`Content-Length: ${LIMIT}\r\n`, body)),
      LIMIT,
    );
    expect((await egress.get(accountsAt(url))).body).toHaveLength(LIMIT);
  });
});

describe('a slow response', () => {
  test.each([
    ['no header', () => undefined],
    [
      'a byte each 100 ms',
      (socket: TLSSocket) => {
        socket.write(answer('Content-Length: 1000\r\n'));
        const timer = setInterval(() => socket.write('x'), 100);
        socket.once('close', () => clearInterval(timer));
      },
    ],
    [
      'early hints without an end',
      (socket: TLSSocket) => {
        const timer = setInterval(() => socket.write(HINT), 20);
        socket.once('close', () => clearInterval(timer));
      },
    ],
  ] as const)('with %s is bank-timeout at the deadline', async (_name, onRequest) => {
    const { url } = await startBank(onRequest);
    const settings = { BANK_REQUEST_TIMEOUT_MS: 300 };
    const egress = createEgress({ ...authority.client('a client'), ca: authority.pem }, settings);
    expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({
      code: 'bank-timeout',
      owner: 'bank',
      status: 504,
    });
  });
});

test.each([
  ['the header', 'HTTP/1.1 200'],
  ['the body', answer('Content-Length: 6000\r\n', '{').toString()],
  ['a chunked body', answer(CHUNKED, chunk('{')).toString()],
])('a reset during %s is a connection failure', async (_name, text) => {
  const { url, egress } = await startBank((socket, raw) =>
    socket.write(text, () => setTimeout(() => raw.resetAndDestroy(), 50)),
  );
  expect(await failureOf(egress.get(accountsAt(url)))).toMatchObject({ code: 'bank-unreachable', owner: 'network' });
});

describe('a redirect', () => {
  let bank: PretendBank;
  let other: PretendBank;
  beforeAll(async () => {
    [bank, other] = await Promise.all([startPretendBank(), startPretendBank()]);
  });

  test.each([302, 307])(
    'of status %i is not followed, to another host, to http or to the same host',
    async (status) => {
      const plain = await startRawServer();
      const egress = createEgress(identityFor(bank));
      for (const location of [`${other.url}/api/v1/accounts`, `http://127.0.0.1:${plain.port}/`, '/elsewhere']) {
        bank.requests.length = 0;
        bank.onAccounts = (_request, response) => json(response, status, '', { location });
        const answer = await egress.get(accountsAt(bank.url));
        expect(answer.status).toBe(status);
        const error = toAnswerError(answer, 'accounts');
        expect(error?.code).toBe('bank-refused');
        expect(error?.detail).not.toContain('elsewhere');
        expect(bank.requests).toHaveLength(1);
      }
      expect(other.sockets.size).toBe(0);
      expect(plain.accepted).toBe(0);
    },
  );
});
