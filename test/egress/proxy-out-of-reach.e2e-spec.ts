import { expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { listAccounts } from '../support/pretend-bank.js';
import { createAuthority, expired } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { startRoute, startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor, openSockets, socketsLeft } from '../support/egress.js';
import { closedPort, startRawServer } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

test.each(['http', 'https'])('an %s proxy whose port is closed', async (scheme) => {
  const before = openSockets();
  const egress = createEgress(identityFor(bank), {
    EGRESS_PROXY_URL: new URL(`${scheme}://127.0.0.1:${await closedPort()}`),
  });
  expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
    code: 'proxy-unavailable',
    owner: 'network',
    status: 503,
    detail: expect.stringContaining('ECONNREFUSED'),
  });
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test.each(['http', 'https'])('an %s proxy without DNS', async (scheme) => {
  const egress = createEgress(identityFor(bank), {
    EGRESS_PROXY_URL: new URL(`${scheme}://no-such-proxy.invalid:3128`),
  });
  expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
});

test('an https proxy that never answers the TLS handshake', async () => {
  const mute = await startRawServer();
  const before = openSockets();
  const egress = createEgress(identityFor(bank), {
    EGRESS_PROXY_URL: new URL(`https://localhost:${mute.port}`),
    BANK_CONNECT_TIMEOUT_MS: 500,
  });
  const failure = await failureOf(egress.get(accountsAt(bank.url)));
  expect(failure).toMatchObject({ code: 'proxy-unavailable' });
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});

test.each([
  ['untrusted', 'operator', /not trusted \(.*(ISSUER|VERIFY|SIGNED)/],
  ['wrong name', 'operator', /not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/],
  ['expired', 'network', /not trusted \(CERT_HAS_EXPIRED\)/],
  ['plain HTTP', 'network', /cannot be reached/],
] as const)(
  'an https proxy that is not the one we know (%s) is no fault of the bank, and for the %s',
  async (kind, owner, detail) => {
    const authority = createAuthority('Proxy CA');
    const names = kind === 'wrong name' ? ['proxy.example'] : ['localhost'];
    const tls = authority.server(names, ...(kind === 'expired' ? [expired()] : []));
    const proxy = await startConnectProxy(kind === 'plain HTTP' ? {} : { tls });
    const url = new URL(`https://localhost:${proxy.port}`);
    const before = openSockets();
    const egress = createEgress(identityFor(bank), {
      EGRESS_PROXY_URL: url,
      EGRESS_PROXY_CA_FILE: kind === 'untrusted' ? undefined : authority.file,
    });
    expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({
      code: 'proxy-unavailable',
      owner,
      detail: expect.stringMatching(detail),
    });
    expect(proxy.heads).toEqual([]);
    expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
  },
);

test('the roots for the proxy are not trusted for the bank, nor the other way round', async () => {
  const authority = createAuthority('Proxy CA');
  const proxy = await startConnectProxy({ tls: authority.server(['localhost']) });
  const settings = { EGRESS_PROXY_URL: proxy.url, EGRESS_PROXY_CA_FILE: authority.file };
  const egress = createEgress({ ...identityFor(bank), ca: authority.pem }, settings);
  expect(await failureOf(egress.get(accountsAt(bank.url)))).toMatchObject({ code: 'bank-untrusted' });
  const other = createEgress(identityFor(bank), { ...settings, EGRESS_PROXY_CA_FILE: bank.files.ca });
  expect(await failureOf(other.get(accountsAt(bank.url)))).toMatchObject({ code: 'proxy-unavailable' });
});

test('a proxy CA file that is gone is told at once', () => {
  const proxyCaFile = `${temporaryDirectory()}/gone.pem`;
  expect(() => createEgress(identityFor(bank), { EGRESS_PROXY_CA_FILE: proxyCaFile })).toThrow(
    /gone\.pem does not exist/,
  );
});

test.each(['http proxy', 'https proxy'] as const)('an %s that dies with tunnels open', async (route) => {
  const { proxy, settings } = await startRoute(route);
  const before = openSockets();
  const egress = createEgress(identityFor(bank), settings);
  bank.onAccounts = listAccounts([]);
  await Promise.all([1, 2, 3].map(() => egress.get(accountsAt(bank.url))));
  bank.onAccounts = (_request, response) => void response.writeHead(200).write('half');
  const calls = [1, 2].map(() => failureOf(egress.get(accountsAt(bank.url))));
  const asked = bank.requests.length;
  await until(() => bank.requests.length === asked + 2);
  for (const socket of proxy.sockets) socket.resetAndDestroy();
  await proxy.close();
  // cut before, or within the body, or by then asked again: whichever the wire told
  const codes = ['bank-unreachable', 'bank-response-invalid', 'proxy-unavailable'];
  for (const call of calls) expect(codes).toContain((await call).code);
  const failure = await failureOf(egress.get(accountsAt(bank.url)));
  expect(failure).toMatchObject({ code: 'proxy-unavailable' });
  expect(failure.ms).toBeLessThan(2000);
  expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
});
