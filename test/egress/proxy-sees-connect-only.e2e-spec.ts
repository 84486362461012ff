import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { startRoute, withCredentials } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';

const bank = await bankForFile();

/** An https proxy asks for a certificate of any authority, and goes on without one. */
const start = (kind: 'http' | 'https') =>
  startRoute(`${kind} proxy`, kind === 'https' ? { tls: { requestCert: true, rejectUnauthorized: false } } : {});

test.each(['http', 'https'] as const)(
  'over an %s proxy our certificate reaches the bank and nobody else',
  async (kind) => {
    const { proxy, settings } = await start(kind);
    const identity = identityFor(bank);
    const egress = createEgress(identity, settings);
    const answer = await egress.get(accountsAt(bank.url));

    expect(answer.status).toBe(200);
    const thumbprint = new X509Certificate(identity.cert).fingerprint.replaceAll(':', '');
    expect(bank.requests.map((request) => request.thumbprint)).toEqual([thumbprint]);
    const { host } = new URL(bank.url);
    expect(proxy.heads).toEqual([`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Connection: Keep-Alive\r\n\r\n`]);
    expect(proxy.clientCertificates).toEqual(kind === 'https' ? [null] : []);
    const through = Buffer.concat(proxy.tunnelled);
    // a TLS handshake record is the first thing in the tunnel, and nothing readable ever
    expect(through.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]));
    for (const word of ['GET ', 'Bearer', bank.username]) expect(through.includes(word)).toBe(false);
  },
);

test.each([
  ['plain', 'robot', 'pass'],
  ['@:%/?# and a space', 'ro@bot', 'p@ss:w%rd/?# x'],
  ['UTF-8', 'rõbot', 'пароль-€'],
  ['empty password', 'robot', ''],
])('credentials with %s are decoded before they are sent', async (_name, user, password) => {
  const { proxy } = await start('http');
  const lines: string[] = [];
  const egress = createEgress(
    identityFor(bank),
    { EGRESS_PROXY_URL: withCredentials(proxy.url, user, password) },
    lines,
  );
  await egress.get(accountsAt(bank.url));
  const sent = /^Proxy-Authorization: Basic (.+)$/m.exec(proxy.heads[0] ?? '')?.[1] ?? '';
  expect(Buffer.from(sent.trim(), 'base64').toString('utf8')).toBe(`${user}:${password}`);
  expect(bank.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  expect(lines.join('')).not.toContain(sent.trim());
});

test.each(['http', 'https'] as const)(
  'a bank named by address is checked against that address, not against the name of the %s proxy',
  async (kind) => {
    const named = await startPretendBank({ serverNames: ['localhost'] });
    const { proxy, settings } = await start(kind);
    proxy.url.hostname = 'localhost';
    const egress = createEgress(identityFor(named), { ...settings, EGRESS_PROXY_URL: proxy.url });
    expect(await failureOf(egress.get(accountsAt(named.url)))).toMatchObject({ code: 'bank-untrusted' });
    expect(named.requests).toEqual([]);
    expect((await egress.get(accountsAt(named.url.replace('127.0.0.1', 'localhost')))).status).toBe(200);
  },
);
