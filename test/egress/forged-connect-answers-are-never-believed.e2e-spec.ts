import { describe, expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { startRoute, type Connect } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf, identityFor, openSockets, socketsLeft } from '../support/egress.js';

const bank = await bankForFile();

const CONNECT_TIMEOUT_MS = 1500;
const FORGED = JSON.stringify({ access_token: 'forged', expires_in: 300, token_type: 'Bearer', result: [] });

const says = (text: string) => (connect: Connect) => connect.socket.write(text, 'latin1');
const saysAndCloses = (text: string) => (connect: Connect) => connect.socket.end(text, 'latin1');
const http = (status: string, body = '', header = '') =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${header}\r\n${body}`;

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

const ANSWERS: readonly (readonly [string, (connect: Connect) => void, string, RegExp])[] = [
  ['201 with JSON', says(http('201 Created', FORGED)), 'proxy-refused', /201/],
  ['204', says('HTTP/1.1 204 No Content\r\n\r\n'), 'proxy-refused', /204/],
  ['302', says(http('302 Found', '', 'Location: https://evil.example/\r\n')), 'proxy-refused', /302/],
  ['401', says(http('401 Unauthorized', FORGED)), 'proxy-refused', /401/],
  ['403', says(http('403 Forbidden', FORGED)), 'proxy-refused', /403/],
  ['404', says(http('404 Not Found', FORGED)), 'proxy-refused', /404/],
  [
    '407',
    says(http('407 Proxy Authentication Required', '', 'Proxy-Authenticate: Basic realm="x"\r\n')),
    'proxy-refused',
    /407/,
  ],
  ['502', saysAndCloses(http('502 Bad Gateway', 'x')), 'proxy-refused', /502/],
  ['100 before the tunnel', says(`HTTP/1.1 100 Continue\r\n\r\n${ESTABLISHED}`), 'proxy-refused', /100/],
  ['no HTTP at all', says('SSH-2.0-OpenSSH_9.2\r\n\r\n'), 'proxy-refused', /did not open a tunnel/],
  [
    'a header line without a colon',
    says('HTTP/1.1 200 OK\r\nsecret\r\n\r\n'),
    'proxy-refused',
    /did not open a tunnel/,
  ],
  ['an empty answer', says('\r\n\r\n'), 'proxy-refused', /did not open a tunnel/],
  [
    '200 and then noise',
    ({ socket }) => socket.write(ESTABLISHED, () => setTimeout(() => socket.write('noise, noise, noise'), 50)),
    'proxy-refused',
    /does not lead to a TLS server/,
  ],
  [
    '200 and then a forged answer',
    ({ socket }) => socket.write(ESTABLISHED, () => setTimeout(() => socket.write(http('200 OK', FORGED)), 50)),
    'proxy-refused',
    /does not lead to a TLS server/,
  ],
  [
    '200 with a forged answer in one go',
    says(ESTABLISHED + http('200 OK', FORGED)),
    'proxy-refused',
    /does not lead to a TLS server/,
  ],
  [
    '200 with a page, and an end',
    saysAndCloses(http('200 OK', FORGED)),
    'proxy-refused',
    /does not lead to a TLS server/,
  ],
  ['200 and then silence', says(ESTABLISHED), 'bank-timeout', /TLS/],
  ['200 and then an end', saysAndCloses(ESTABLISHED), 'proxy-unavailable', /closed before/],
  [
    '200 and then a reset',
    ({ socket, reset }) => socket.write(ESTABLISHED, () => setTimeout(reset, 50)),
    'proxy-unavailable',
    /closed before/,
  ],
  ['nothing', () => undefined, 'proxy-unavailable', /opened no tunnel/],
  ['half a header', says('HTTP/1.1 200 Connection est'), 'proxy-unavailable', /opened no tunnel/],
  ['half a header and an end', saysAndCloses('HTTP/1.1 200 OK\r\nVia: x'), 'proxy-unavailable', /cannot be reached/],
  ['an end', ({ socket }) => socket.end(), 'proxy-unavailable', /cannot be reached/],
  ['a reset', ({ reset }) => reset(), 'proxy-unavailable', /ECONNRESET/],
];

describe.each(['http proxy', 'https proxy'] as const)('an %s that answers', (route) => {
  test.each(ANSWERS)('%s', async (_name, onConnect, code, detail) => {
    const { proxy, settings } = await startRoute(route, { onConnect });
    const before = openSockets();
    const egress = createEgress(identityFor(bank), { ...settings, BANK_CONNECT_TIMEOUT_MS: CONNECT_TIMEOUT_MS });
    const failures = await Promise.all(
      Array.from({ length: 4 }, async () => failureOf(egress.get(accountsAt(bank.url)))),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({ code, detail: expect.stringMatching(detail) });
      expect(failure.ms).toBeLessThan(CONNECT_TIMEOUT_MS + 2000);
    }
    expect(egress.everAnswered).toBe(false);
    expect(bank.requests).toEqual([]);
    expect(await socketsLeft(before)).toBeLessThanOrEqual(before);
    expect(proxy.sockets.size).toBe(0);
  });
});
