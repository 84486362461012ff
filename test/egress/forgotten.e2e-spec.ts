import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { createAuthority } from '../support/authority.js';
import { ROUTES, startConnectProxy, startRoute } from '../support/connect-proxy.js';
import { accountsAt, agentOf, createEgress, failureOf } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';
import { startRawServer, startTlsServer } from '../support/servers.js';

// If something left over from an earlier success fails, it is dropped before the gateway draws conclusions
// (docs/calling-the-bank.md#connections).

const ca = createAuthority('Bank CA');
const server = ca.server(['localhost']);
/** A certificate to which no bank has responded yet. */
const newClient = () => ({ ...ca.client('a client'), ca: ca.pem });

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const ENDS = ['FIN', 'RST'] as const;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const OK_AND_END = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';

interface Scripted {
  readonly url: string;
  /** The connections, oldest first: true for a resumed session. */
  readonly resumed: boolean[];
}

/** A bank over TLS. `onCall` gets each request, `end` closes its connection without an answer. */
async function startScripted(
  onCall: (call: { socket: TLSSocket; number: number; isResumed: boolean; end: (how: string) => void }) => void,
  version?: (typeof VERSIONS)[number],
): Promise<Scripted> {
  const resumed: boolean[] = [];
  let number = 0;
  const options = {
    ...server,
    ca: ca.pem,
    requestCert: true,
    ...(version && { minVersion: version, maxVersion: version }),
  };
  const bank = await startTlsServer(options, (socket) => {
    const isResumed = socket.isSessionReused();
    resumed.push(isResumed);
    const end = (how: string) => {
      const tcp = [...bank.sockets].find(({ remotePort }) => remotePort === socket.remotePort);
      if (how === 'RST') tcp?.resetAndDestroy();
      socket.destroy();
    };
    socket.on('data', () => onCall({ socket, number: (number += 1), isResumed, end }));
  });
  return { url: `https://localhost:${bank.port}`, resumed };
}

describe.each(['direct', 'http proxy'] as const)('%s, a TLS session', (route) => {
  const cases = VERSIONS.flatMap((version) => ENDS.map((how) => [version, how] as const));
  test.each(cases)(
    'over %s whose connection ends by %s: the call succeeds with a full handshake',
    async (version, how) => {
      const bank = await startScripted(
        ({ socket, isResumed, end }) => (isResumed ? end(how) : void socket.end(OK_AND_END)),
        version,
      );
      const egress = createEgress(newClient(), (await startRoute(route)).settings);
      for (let call = 0; call < 3; call += 1) expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
      expect(bank.resumed).toEqual([false, true, false, true, false]);
    },
  );

  test('that works is resumed, and is gone after a reload', async () => {
    const bank = await startScripted(({ socket }) => void socket.end(OK_AND_END));
    const egress = createEgress(newClient(), (await startRoute(route)).settings);
    for (let call = 0; call < 3; call += 1) {
      if (call === 2) egress.forget();
      await egress.get(accountsAt(bank.url));
    }
    expect(bank.resumed).toEqual([false, true, false]);
  });
});

test('after SIGHUP, a healthy gateway makes a full handshake', async () => {
  const bank = await startPretendBank();
  const resumed: boolean[] = [];
  bank.onAccounts = (request, response, url) => {
    resumed.push((request.socket as TLSSocket).isSessionReused());
    response.setHeader('connection', 'close');
    listAccounts([sampleAccount(1)])(request, response, url);
  };
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' });
  for (let call = 0; call < 3; call += 1) await gateway.get('/api/v1/accounts');
  expect(resumed.at(-1)).toBe(true);
  gateway.app.get(AppModule).reload();
  await gateway.get('/api/v1/accounts');
  expect(resumed.at(-1)).toBe(false);
});

describe('connections that close without a response', () => {
  const closing = (version: (typeof VERSIONS)[number], isFailing: (number: number) => boolean) =>
    startScripted(({ socket, number, end }) => (isFailing(number) ? end('FIN') : void socket.end(OK_AND_END)), version);

  test('twice in a row after full handshakes over TLS 1.3, at a host that has never responded, reject our certificate, with a short back-off', async () => {
    const bank = await closing('TLSv1.3', () => true);
    expect(await failureOf(createEgress(newClient()).get(accountsAt(bank.url)))).toMatchObject({
      code: 'certificate-rejected',
      isRejection: false,
      detail: expect.stringMatching(/two connections in a row.*chain is missing.*allowlist.*BANK_TLS_MAX_VERSION=1\.2/),
    });
    expect(bank.resumed).toEqual([false, false]);
  });

  test('over TLS 1.2 mean that the bank is unreachable', async () => {
    const bank = await closing('TLSv1.2', () => true);
    const failed = await failureOf(createEgress(newClient()).get(accountsAt(bank.url)));
    expect(failed).toMatchObject({ code: 'bank-unreachable', owner: 'network' });
    expect(bank.resumed).toEqual([false, false]);
  });

  test('at a host that has responded over this certificate: the bank is unreachable, also after a reload and with a new password', async () => {
    const bank = await closing('TLSv1.3', (number) => number > 1);
    const client = newClient();
    const egress = createEgress(client);
    await egress.get(accountsAt(bank.url));
    expect((await failureOf(egress.get(accountsAt(bank.url)))).code).toBe('bank-unreachable');
    egress.forget();
    expect((await failureOf(egress.get(accountsAt(bank.url)))).code).toBe('bank-unreachable');
    expect((await failureOf(createEgress(client).get(accountsAt(bank.url)))).code).toBe('bank-unreachable');
    // the negative case: another certificate
    expect((await failureOf(createEgress(newClient()).get(accountsAt(bank.url)))).code).toBe('certificate-rejected');
  });

  test('only once are retried at once, and the call succeeds', async () => {
    const bank = await closing('TLSv1.3', (number) => number === 1);
    expect((await createEgress(newClient()).get(accountsAt(bank.url))).status).toBe(200);
    expect(bank.resumed).toHaveLength(2);
  });

  test.each(ENDS)(
    'in the handshake, by %s: the bank is unreachable, at the first call and after responses',
    async (how) => {
      let isCutting = true;
      const bank = await closing('TLSv1.3', () => false);
      const way = await startRawServer((socket) => {
        if (!isCutting) return void socket.pipe(connect(Number(new URL(bank.url).port), '127.0.0.1')).pipe(socket);
        socket.once('data', () => (how === 'FIN' ? socket.end() : socket.resetAndDestroy()));
      });
      const egress = createEgress(newClient());
      const call = () => egress.get(accountsAt(`https://localhost:${way.port}`));
      for (const detail of [/handshake.*classical/, /handshake was finished \(/]) {
        isCutting = true;
        expect(await failureOf(call())).toMatchObject({
          code: 'bank-unreachable',
          detail: expect.stringMatching(detail),
        });
        isCutting = false;
        expect((await call()).status).toBe(200);
      }
    },
  );
});

describe('a kept connection', () => {
  test.each(ROUTES)('%s, that sends an unsolicited 408: the call is sent on a fresh one', async (route) => {
    const bank = await startScripted(({ socket, number }) => {
      if (number !== 2) socket.write(OK);
      else socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    const egress = createEgress(newClient(), (await startRoute(route)).settings);
    for (let call = 0; call < 3; call += 1) expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
    expect(bank.resumed).toHaveLength(2);
  });

  test('the negative case: a 408 on a fresh one is the response', async () => {
    const bank = await startScripted(({ socket }) =>
      socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
    );
    expect((await createEgress(newClient()).get(accountsAt(bank.url))).status).toBe(408);
  });

  test('that a firewall has dropped costs one call its deadline, and the next call gets a fresh one', async () => {
    const bank = await startScripted(({ socket, number }) => number !== 2 && socket.write(OK));
    const egress = createEgress(newClient(), { BANK_REQUEST_TIMEOUT_MS: 500 });
    await egress.get(accountsAt(bank.url));
    expect((await failureOf(egress.get(accountsAt(bank.url)))).code).toBe('bank-timeout');
    expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
    expect(bank.resumed).toEqual([false, false]);
  });

  test('whose proxy restarts is replaced', async () => {
    const bank = await startScripted(({ socket }) => socket.write(OK));
    const proxy = await startConnectProxy();
    const egress = createEgress(newClient(), { EGRESS_PROXY_URL: proxy.url });
    await egress.get(accountsAt(bank.url));
    for (const socket of proxy.sockets) socket.resetAndDestroy();
    expect((await egress.get(accountsAt(bank.url))).status).toBe(200);
    expect(proxy.heads).toHaveLength(2);
  });
});

describe('a firewall that drops a ClientHello of two segments', () => {
  /** Forwards to the bank unless the first piece has more than `limit` bytes, and then calls `onLarge`. */
  async function startFirewall(bank: Scripted, onLarge: (socket: Socket) => void, limit = 1400) {
    const hellos: number[] = [];
    const firewall = await startRawServer((socket) => {
      socket.once('data', (hello) => {
        hellos.push(hello.length);
        if (hello.length > limit) return onLarge(socket);
        const way = connect(Number(new URL(bank.url).port), '127.0.0.1');
        way.write(hello);
        socket.pipe(way).pipe(socket);
      });
    });
    return { url: `https://localhost:${firewall.port}`, hellos };
  }

  type Firewall = readonly ['direct' | 'http proxy', string, (socket: Socket) => void];
  test.each<Firewall>([
    ['direct', 'resets it', (socket) => void socket.resetAndDestroy()],
    ['http proxy', 'closes it', (socket) => void socket.end()],
    ['direct', 'drops it', () => undefined],
    ['http proxy', 'drops it', () => undefined],
  ])('%s, %s: classical groups work, are kept, and are logged once', async (route, what, onLarge) => {
    const bank = await startScripted(({ socket }) => void socket.end(OK_AND_END));
    const firewall = await startFirewall(bank, onLarge);
    const lines: string[] = [];
    const deadline = what === 'drops it' ? { BANK_CONNECT_TIMEOUT_MS: 1000 } : {};
    const settings = { ...(await startRoute(route)).settings, ...deadline };
    const egress = createEgress(newClient(), settings, lines);
    for (let call = 0; call < 3; call += 1) {
      // no session is resumed, because it would make the ClientHello large again
      expect((await egress.get(accountsAt(firewall.url))).status).toBe(200);
    }
    expect(bank.resumed).toEqual([false, false, false]);
    const isLarge = firewall.hellos.map((bytes) => bytes > 1400);
    expect(isLarge).toEqual([true, false, false, false]);
    expect(lines.filter((line) => line.includes('bank.tls-fallback'))).toHaveLength(1);
    // SIGHUP forgets it
    egress.forget();
    await egress.get(accountsAt(firewall.url));
    expect(firewall.hellos.filter((bytes) => bytes > 1400)).toHaveLength(2);
  });

  test.each([
    ['direct', '1.2', 600],
    ['http proxy', '1.3', 1800],
  ] as const)(
    '%s, at most TLS %s, only once a session makes it longer: full handshakes from then on, until a reload',
    async (route, version, limit) => {
      const bank = await startScripted(({ socket }) => void socket.end(OK_AND_END));
      const firewall = await startFirewall(bank, () => undefined, limit);
      const { settings } = await startRoute(route);
      const egress = createEgress(newClient(), {
        ...settings,
        BANK_TLS_MAX_VERSION: version,
        BANK_CONNECT_TIMEOUT_MS: 1000,
      });
      for (let call = 0; call < 5; call += 1) {
        if (call === 3) egress.forget();
        expect((await egress.get(accountsAt(firewall.url))).status).toBe(200);
      }
      const isLarge = firewall.hellos.map((bytes) => bytes > limit);
      expect(isLarge).toEqual([false, true, false, false, false, true, false]);
      expect(bank.resumed).toEqual(Array(5).fill(false));
    },
  );

  test('a bank that is away for a while: sessions are resumed again once it is back', async () => {
    const bank = await startScripted(({ socket }) => void socket.end(OK_AND_END));
    let isAway = false;
    const way = await startRawServer((socket) => {
      if (isAway) return;
      socket.pipe(connect(Number(new URL(bank.url).port), '127.0.0.1')).pipe(socket);
    });
    const egress = createEgress(newClient(), { BANK_CONNECT_TIMEOUT_MS: 1000 });
    const call = () => egress.get(accountsAt(`https://localhost:${way.port}`));
    await call();
    isAway = true;
    expect(await failureOf(call())).toMatchObject({ code: 'bank-timeout' });
    isAway = false;
    await call();
    await call();
    expect(bank.resumed).toEqual([false, false, true]);
  });

  test('the negative case: with at most TLS 1.2, there is nothing to fall back to', async () => {
    const firewall = await startRawServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const egress = createEgress(newClient(), { BANK_TLS_MAX_VERSION: '1.2' });
    const { detail } = await failureOf(egress.get(accountsAt(`https://localhost:${firewall.port}`)));
    expect(detail).not.toContain('classical');
  });
});

test('NODE_USE_ENV_PROXY has no effect on direct connections, even if it should ever apply to all agents', async () => {
  expect((await agentOf(createEgress(newClient()), 'https://localhost')).options).toMatchObject({ proxyEnv: null });
});

test.each(['direct', 'http proxy'] as const)('%s: the trailing dot of the host name is not sent', async (route) => {
  const { heads, names, port } = await startNoting();
  const { proxy, settings } = await startRoute(route);
  await createEgress(newClient(), settings).get(accountsAt(`https://localhost.:${port}`));
  expect(names).toEqual(['localhost']);
  expect(heads[0]).toMatch(new RegExp(`^Host: localhost:${port}\r$`, 'im'));
  expect(proxy.heads.join('')).not.toContain('localhost.');

  async function startNoting() {
    const heads: string[] = [];
    const names: unknown[] = [];
    const bank = await startTlsServer(server, (socket) => {
      names.push((socket as TLSSocket & { servername: unknown }).servername);
      socket.on('data', (head: Buffer) => {
        heads.push(head.toString());
        socket.end(OK_AND_END);
      });
    });
    return { heads, names, port: bank.port };
  }
});

test('the bank gets the documented headers, and none of a client library', async () => {
  let head = '';
  const bank = await startTlsServer(server, (socket) =>
    socket.on('data', (data: Buffer) => {
      head = data.toString();
      socket.end(OK_AND_END);
    }),
  );
  const host = `localhost:${bank.port}`;
  const headers = { 'Content-Type': 'application/json', Authorization: 'Basic dTpw' };
  await createEgress(newClient()).get({ target: 'token', baseUrl: `https://${host}`, path: '/authorize', headers });
  expect(head.trim().split('\r\n').toSorted()).toEqual(
    [
      'GET /authorize HTTP/1.1',
      `Host: ${host}`,
      'User-Agent: accounts-gateway',
      'Accept-Encoding: gzip',
      'Content-Type: application/json',
      'Authorization: Basic dTpw',
      'Connection: keep-alive',
    ].toSorted(),
  );
});
