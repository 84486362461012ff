import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { createGuard } from './guard.js';

const SETTINGS = {
  ALLOWED_HOSTS: ['localhost', '127.0.0.1', '[::1]', 'accounts.internal'],
  CORS_ORIGINS: ['https://treasury.example'],
  ALLOWED_CLIENTS: ['10.0.0.1'],
};

const guard = createGuard(SETTINGS);

interface Call {
  /** The route found by the router. */
  readonly route?: string | undefined;
  readonly url?: string;
  readonly method?: string;
  readonly httpVersionMajor?: number;
  /** True if the address of the connection is allowed. */
  readonly allowed?: boolean;
  /** The local address of the connection. */
  readonly localAddress?: string;
  /** As received: name, value, name, value. */
  readonly headers?: readonly string[];
}

function pass(call: Call): void {
  const { route = '/api/v1/accounts', url = '/', headers = ['Host', 'localhost'], allowed = true } = call;
  const socket = new Socket();
  Object.defineProperty(socket, 'localAddress', { value: call.localAddress });
  Object.defineProperty(socket, 'remoteAddress', { value: allowed ? '10.0.0.1' : '10.0.0.2' });
  const request = new IncomingMessage(socket);
  Object.assign(request, { httpVersionMajor: 1, method: 'GET', ...call, url, rawHeaders: headers });
  request.headers = {};
  for (let index = 0; index < headers.length; index += 2) {
    request.headers[headers[index]?.toLowerCase() ?? ''] ??= headers[index + 1];
  }
  guard(request, 'route' in call ? call.route : route);
}

const codeOf = async (call: Call) => (await rejectionOf(() => pass(call))).code;

describe('the name in Host', () => {
  it.each([
    'localhost',
    'LocalHost',
    'localhost:3000',
    'localhost:',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:',
    '[::1]:3000',
    'Accounts.Internal:443',
    'localhost.',
    'Accounts.Internal.:443',
  ])('%s is allowed', (host) => {
    expect(() => pass({ headers: ['Host', host] })).not.toThrow();
  });

  it.each([
    'evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    'localhost:0',
    'localhost::',
    'localhost:x',
    'localhost, evil.example',
    'localhost..',
    '.',
    '127.1',
  ])('%j is rejected', async (host) => {
    expect(await codeOf({ headers: ['Host', host] })).toBe('host-not-allowed');
  });

  it('that is empty counts as missing', async () => {
    expect(await codeOf({ headers: ['Host', ''] })).toBe('malformed-request');
  });

  it('is never read from a forwarding header', async () => {
    const headers = ['Host', 'evil.example', 'X-Forwarded-Host', 'localhost', 'Forwarded', 'host=localhost'];
    expect(await codeOf({ headers })).toBe('host-not-allowed');
  });
});

describe('the local address of the connection as Host', () => {
  it.each([
    ['10.1.2.3:3000', '10.1.2.3'],
    ['10.1.2.3:', '10.1.2.3'],
    ['10.1.2.3', '::ffff:10.1.2.3'],
    ['[fd00::1]', 'fd00::1'],
    ['[FD00::1]:3000', 'fd00::1'],
    ['[fe80::1]', 'fe80::1%eth0'],
  ])('%s on %s is accepted', (host, localAddress) => {
    expect(() => pass({ headers: ['Host', host], localAddress })).not.toThrow();
  });

  it.each([
    ['10.1.2.4', '10.1.2.3'],
    ['10.1.2.4:', '10.1.2.3'],
    ['10.1.2.3:70000', '10.1.2.3'],
    ['[10.1.2.3]', '10.1.2.3'],
    ['[fd00::2]', 'fd00::1'],
    ['[]', ''],
    ['undefined', undefined],
  ])('the negative case: %s on %s is rejected', async (host, localAddress) => {
    expect(await codeOf({ headers: ['Host', host], ...(localAddress !== undefined && { localAddress }) })).toBe(
      'host-not-allowed',
    );
  });

  it('is not accepted on a later connection to another address', async () => {
    pass({ headers: ['Host', '10.1.2.3'], localAddress: '10.1.2.3' });
    expect(await codeOf({ headers: ['Host', '10.1.2.3'], localAddress: '10.9.9.9' })).toBe('host-not-allowed');
  });
});

describe('the probes', () => {
  it.each(['/health/live', '/health/ready'])('accept any name and address for %s', (route) => {
    expect(() => pass({ route, allowed: false, headers: ['Host', 'evil.example'] })).not.toThrow();
  });

  it.each(['/health', '/docs', '/', undefined])('do not include the route %s', async (route) => {
    expect(await codeOf({ route, headers: ['Host', 'evil.example'] })).toBe('host-not-allowed');
    expect(await codeOf({ route, allowed: false })).toBe('client-not-allowed');
  });
});

describe('a call by a page of another site', () => {
  const from = (site: string, origin?: string) => [
    'Host',
    'localhost',
    'Sec-Fetch-Site',
    site,
    ...(origin === undefined ? [] : ['Origin', origin]),
  ];

  it.each([[undefined], ['https://evil.example'], ['null'], ['http://treasury.example']])(
    'from %s is rejected',
    async (origin) => {
      expect(await codeOf({ headers: from('cross-site', origin) })).toBe('client-not-allowed');
    },
  );

  it('to a path without a route is rejected like a call to the API', async () => {
    expect(await codeOf({ route: undefined, headers: from('cross-site') })).toBe('client-not-allowed');
  });

  it('from a listed origin is served', () => {
    expect(() => pass({ headers: from('cross-site', 'https://treasury.example') })).not.toThrow();
  });

  // over plain HTTP browsers send no Sec-Fetch-Site to another machine
  const withOrigin = (origin: string, host = 'localhost:3000') => ['Host', host, 'Origin', origin];

  it.each(['https://evil.example', 'null', 'http://localhost', 'http://localhost:3001', 'http://localhost.evil:3000'])(
    'with the unlisted origin %s and no Sec-Fetch-Site is rejected only by the API',
    async (origin) => {
      expect(await codeOf({ headers: withOrigin(origin) })).toBe('client-not-allowed');
      expect(() => pass({ route: '/docs', headers: withOrigin(origin) })).not.toThrow();
    },
  );

  it.each([
    ['http://localhost:3000', 'localhost:3000'],
    ['http://localhost', 'localhost:80'],
    ['https://accounts.internal', 'Accounts.Internal:443'],
    ['https://accounts.internal.', 'Accounts.Internal.:443'],
    ['https://treasury.example', 'localhost'],
    ['', 'localhost'],
  ])('the negative case: with the origin %j to %s is served', (origin, host) => {
    expect(() => pass({ headers: withOrigin(origin, host) })).not.toThrow();
  });

  it.each(['same-origin', 'same-site', 'none'])('%s is served', (site) => {
    expect(() => pass({ headers: from(site) })).not.toThrow();
  });

  const navigation = (mode: string, destination: string) => [
    ...from('cross-site'),
    'Sec-Fetch-Mode',
    mode,
    'Sec-Fetch-Dest',
    destination,
  ];

  it('is served if it is a navigation, such as a link to a CSV', () => {
    expect(() => pass({ headers: navigation('navigate', 'document') })).not.toThrow();
  });

  it.each([
    ['navigate', 'iframe'],
    ['no-cors', 'document'],
    ['no-cors', 'image'],
    ['cors', 'empty'],
    ['navigate', 'document, iframe'],
  ])('is rejected if it is not a navigation (%s, %s)', async (mode, destination) => {
    expect(await codeOf({ headers: navigation(mode, destination) })).toBe('client-not-allowed');
  });
});
