import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import * as kinds from './kinds.js';
import { describeSetting, SETTING_NAMES, settingsSchema } from './settings-schema.js';

/** What is wrong with `text`, or null. */
function faultOf(kind: z.ZodType, text: string): string | null {
  const result = kind.safeParse(text);
  return result.success ? null : (result.error.issues[0]?.message ?? '');
}

describe('a whole number', () => {
  const kind = kinds.wholeNumber(2, 300);

  it.each([
    ['2', 2],
    ['300', 300],
    ['042', 42],
  ])('%p is %p', (text, number) => {
    expect(kind.parse(text)).toBe(number);
  });

  it.each(['abc', '-1', '1.5', '1e2', '0x10', ' 5', '5 ', '', '٣', '5\n', '1000000000000000000000'])(
    '%j is refused as none',
    (text) => {
      expect(faultOf(kind, text)).toBe('must be a whole number from 2 to 300');
    },
  );

  it.each(['0', '1'])('%s is too small', (text) => {
    expect(faultOf(kind, text)).toBe('must be at least 2');
  });

  it.each(['301', '1000000000000'])('%s is too large', (text) => {
    expect(faultOf(kind, text)).toBe('must be at most 300');
  });
});

describe('the numbers of the settings', () => {
  it.each([
    ['PORT', '0', '65535', '65536'],
    ['SANDBOX_PORT', '0', '65535', '70000'],
    ['BANK_CONNECT_TIMEOUT_MS', '1', '300000', '1000000000000'],
    ['BANK_REQUEST_TIMEOUT_MS', '1', '600000', '1000000000000'],
    ['REQUEST_DEADLINE_MS', '1', '600000', '1000000000000'],
    ['BANK_PAGE_SIZE', '1', '5000', '5001'],
    ['BANK_MAX_CONCURRENT_REQUESTS', '1', '100', '101'],
    ['SNAPSHOT_FRESH_MS', '0', '86400000', '1000000000000'],
    ['SNAPSHOT_SOFT_TIMEOUT_MS', '0', '600000', '1000000000000'],
    ['SNAPSHOT_READ_TIMEOUT_MS', '1', '3600000', '1000000000000'],
    ['MAX_REQUESTS_WAITING', '1', '1000000', '1000001'],
    ['SHUTDOWN_DELAY_MS', '0', '600000', '600001'],
    ['SANDBOX_TOKEN_LIFETIME_SECONDS', '1', '86400', '86401'],
  ] as const)('%s goes from %s to %s; %s is refused', (name, least, most, tooMuch) => {
    const schema = settingsSchema.shape[name];
    expect([schema.parse(least), schema.parse(most)]).toEqual([Number(least), Number(most)]);
    expect(faultOf(schema, String(Number(least) - 1))).not.toBeNull();
    expect(faultOf(schema, tooMuch)).not.toBeNull();
  });

  it('no time is longer than a timer of Node can be', () => {
    for (const [name, schema] of Object.entries(settingsSchema.shape).filter(([each]) => each.endsWith('_MS'))) {
      expect([name, faultOf(schema, '2147483648')]).not.toEqual([name, null]);
    }
  });
});

describe('the address of the bank', () => {
  it.each([
    ['https://api.bank.example', 'https://api.bank.example'],
    ['https://api.bank.example/', 'https://api.bank.example'],
    ['https://api.bank.example/gateway/v2/', 'https://api.bank.example/gateway/v2'],
    ['https://api.bank.example//', 'https://api.bank.example'],
    ['https://API.bank.example:8443', 'https://api.bank.example:8443'],
    ['https://[::1]:8443/', 'https://[::1]:8443'],
    [' https://api.bank.example ', 'https://api.bank.example'],
  ])('%j is %s', (text, address) => {
    expect(kinds.httpsAddress.parse(text)).toBe(address);
  });

  it.each([
    ['http://api.bank.example', 'must begin with https:// (it begins with http:)'],
    ['ftp://api.bank.example', 'must begin with https:// (it begins with ftp:)'],
    ['https://someone@api.bank.example', 'must not hold credentials'],
    ['https://someone:hunter2@api.bank.example', 'must not hold credentials'],
    ['https://api.bank.example?a=1', 'must not have a query'],
    ['https://api.bank.example?', 'must not have a query'],
    ['https://api.bank.example#part', 'must not have a fragment'],
    ['https://api.bank.example/#', 'must not have a fragment'],
    ['api.bank.example', 'is not an address'],
    ['https://', 'is not an address'],
    ['https://api.bank.example:70000', 'is not an address'],
    ['abc', 'is not an address'],
  ])('%s is refused: %s', (text, fault) => {
    expect(faultOf(kinds.httpsAddress, text)).toContain(fault);
  });

  it.each(['someone:hunter2@api.bank.example', 'http://someone:hunter2@api.bank.example'])(
    '%s is refused without its credentials in the message',
    (text) => {
      const fault = faultOf(kinds.httpsAddress, text);
      expect(fault).toContain('must begin with https://');
      expect(fault).not.toMatch(/someone|hunter2/);
    },
  );
});

describe('the address of the proxy', () => {
  it.each([
    ['http://proxy.example:3128', 'http://proxy.example:3128/'],
    ['https://proxy.example', 'https://proxy.example/'],
    ['HTTP://proxy.example:3128', 'http://proxy.example:3128/'],
    ['proxy.example:3128', 'http://proxy.example:3128/'],
    ['http://someone:p%40ss%25@proxy.example', 'http://someone:p%40ss%25@proxy.example/'],
    ['http://[fd00::1]:3128', 'http://[fd00::1]:3128/'],
  ])('%s is %s', (text, href) => {
    expect(kinds.proxyAddress.parse(text)?.href).toBe(href);
  });

  it.each(['direct', 'DIRECT'])('%s is none', (text) => {
    expect(kinds.proxyAddress.parse(text)).toBeNull();
  });

  it.each([
    ['socks5://proxy.example', 'must begin with http:// or https:// (it begins with socks5:)'],
    ['http://', 'is not the address of a proxy'],
    ['http://proxy.example:70000', 'is not the address of a proxy'],
    ['http://some one@proxy example', 'is not the address of a proxy'],
    ['http://someone:100%@proxy.example', 'has user or password with a bad percent-encoding'],
    ['http://someone:hunter2%ff@proxy.example', 'has user or password with a bad percent-encoding'],
  ])('%s is refused: %s', (text, fault) => {
    expect(faultOf(kinds.proxyAddress, text)).toContain(fault);
    expect(faultOf(kinds.proxyAddress, text)).not.toMatch(/someone|hunter2/);
  });
});

describe('the address of Redis', () => {
  it.each([
    'redis://redis.example',
    'rediss://someone:p%40ss@redis.example:6380/15',
    'redis://:hunter2@127.0.0.1:6379',
    'redis://[fd00::1]:6379',
  ])('%s is taken', (text) => {
    expect(kinds.redisAddress.parse(text).href).toBe(text);
  });

  it.each([
    ['http://redis.example', 'must begin with redis:// or rediss:// (it begins with http:)'],
    ['someone:hunter2@redis.example', 'is not the address of a Redis server'],
    ['redis://', 'is not the address of a Redis server'],
    ['redis://redis.example?db=1', 'is not the address of a Redis server'],
    ['redis://someone:hun/ter2@redis.example', 'is not the address of a Redis server'],
    ['redis://redis.example/accounts', 'has a path that is no number of a database'],
    ['redis://someone:hunter2%ff@redis.example', 'has user or password with a bad percent-encoding'],
  ])('%s is refused: %s', (text, fault) => {
    expect(faultOf(kinds.redisAddress, text)).toContain(fault);
    expect(faultOf(kinds.redisAddress, text)).not.toMatch(/someone|hunter2/);
  });
});

describe('who may call', () => {
  it.each([
    ['loopback', ['loopback']],
    ['10.1.0.0/16, 192.0.2.7 ,any', ['10.1.0.0/16', '192.0.2.7', 'any']],
    ['fd00::/8,private,', ['fd00::/8', 'private']],
    ['0.0.0.0/0', ['0.0.0.0/0']],
  ])('%j is %j', (text, clients) => {
    expect(kinds.clients.parse(text)).toEqual(clients);
  });

  it.each(['10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'everyone', '10.0.0.0/', '10.0.0.0/8/8', '*', '10.0.0.0/-1'])(
    '%s is refused by name',
    (text) => {
      expect(faultOf(kinds.clients, `loopback,${text}`)).toContain(`has "${text}", which is no CIDR`);
    },
  );

  it.each([',', ' , '])('%j names nobody and is refused', (text) => {
    expect(faultOf(kinds.clients, text)).toBe('must name at least one');
  });

  it('only addresses and CIDRs are allowed where no names are', () => {
    expect(kinds.cidrs.parse('127.0.0.1,::1,10.0.0.0/8')).toEqual(['127.0.0.1', '::1', '10.0.0.0/8']);
    expect(faultOf(kinds.cidrs, 'loopback')).toContain('has "loopback"');
  });
});

describe('the names in Host', () => {
  it.each([
    ['localhost', ['localhost']],
    ['Accounts.Internal.Example, 127.0.0.1', ['accounts.internal.example', '127.0.0.1']],
    ['[::1]', ['[::1]']],
  ])('%s are %j', (text, names) => {
    expect(kinds.hostNames.parse(text)).toEqual(names);
  });

  it.each(['localhost:3000', '*', '*.example', '::1', 'https://accounts.example', 'a b', '-a', 'a.'])(
    '%s is refused',
    (text) => {
      expect(faultOf(kinds.hostNames, text)).toContain('which is no host name');
    },
  );
});

describe('an origin', () => {
  it.each(['https://treasury.example', 'http://localhost:4200', 'https://treasury.example:8443'])(
    '%s is one',
    (text) => {
      expect(kinds.origins.parse(text)).toEqual([text]);
    },
  );

  it.each([
    'treasury.example',
    'https://treasury.example/',
    'https://treasury.example/app',
    'https://Treasury.example',
    'https://treasury.example:443',
    'null',
    '*',
    'file:///etc',
  ])('%s is refused by name', (text) => {
    expect(faultOf(kinds.origins, text)).toContain(`has "${text}", which is no origin`);
  });
});

describe('credentials in an address that is refused', () => {
  it.each([
    ['CORS_ORIGINS', 'https://someone:hunter2@treasury.example'],
    ['CORS_ORIGINS', 'https://someone:hun/ter2@treasury.example'],
    ['ALLOWED_HOSTS', 'https://someone:hunter2@accounts.example'],
    ['ALLOWED_CLIENTS', 'someone:hunter2@10.0.0.1'],
    ['SANDBOX_ALLOWED_IPS', 'someone:hunter2@10.0.0.1'],
  ] as const)('are not in the message of %s', (name, text) => {
    const fault = faultOf(settingsSchema.shape[name], text);
    expect(fault).toContain('which is no');
    expect(fault).not.toMatch(/someone|hun|ter2/);
  });
});

describe('a place to listen on', () => {
  it.each(['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost', 'accounts-1.internal'])('%s is one', (text) => {
    expect(kinds.listenHost.parse(text)).toBe(text);
  });

  it.each(['http://localhost', 'a b', '[::1]', 'localhost/'])('%s is refused', (text) => {
    expect(faultOf(kinds.listenHost, text)).toBe('must be an IP address or a host name to listen on');
  });
});

describe('an address of this machine', () => {
  it.each(['192.0.2.10', 'fd00::5'])('%s is one', (text) => {
    expect(kinds.ipAddress.parse(text)).toBe(text);
  });

  it.each(['192.0.2.0/24', 'eth0', '192.0.2'])('%s is refused', (text) => {
    expect(faultOf(kinds.ipAddress, text)).toBe('must be an IP address of this machine');
  });
});

describe('the user name', () => {
  const schema = settingsSchema.shape.BANK_USERNAME;

  it.each(['m2m-user', 'Jürgen €', 'a b', '$HOME"#'])('%s is allowed', (text) => {
    expect(schema.parse(text)).toBe(text);
  });

  it.each([
    ['a:b', 'must not contain ":"'],
    ['a\nb', 'must not contain control characters'],
    ['a\u0000', 'must not contain control characters'],
    ['J\ufffdrgen', 'is not UTF-8'],
  ])('%j is refused: %s', (text, fault) => {
    expect(faultOf(schema, text)).toContain(fault);
  });
});

describe('the password', () => {
  const schema = settingsSchema.shape.BANK_PASSWORD;

  it.each(['a:b', 'pässwörd €', ' spaces ', '\'"$#\\'])('%s is allowed', (text) => {
    expect(schema.parse(text)).toBe(text);
  });

  it.each([
    ['line\n', 'must not contain control characters or line ends'],
    ['tab\t', 'must not contain control characters or line ends'],
    ['del\u007f', 'must not contain control characters or line ends'],
    ['w\ufffdrd', 'is not UTF-8'],
  ])('%j is refused: %s', (text, fault) => {
    expect(faultOf(schema, text)).toContain(fault);
  });
});

describe('the log level', () => {
  it.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])('%s is one', (text) => {
    expect(faultOf(settingsSchema.shape.LOG_LEVEL, text)).toBeNull();
  });

  it.each(['INFO', 'verbose', '30'])('%s is refused, with the ones there are', (text) => {
    expect(faultOf(settingsSchema.shape.LOG_LEVEL, text)).toContain('must be one of trace, debug, info');
  });
});

it.each(SETTING_NAMES)('the example of %s is allowed, and so is its default', (name) => {
  const schema = settingsSchema.shape[name];
  const { example, default: otherwise = null } = describeSetting(name);
  expect(faultOf(schema, example.replace(/^'(.*)'$/, '$1'))).toBeNull();
  if (otherwise !== null) expect(faultOf(schema, otherwise)).toBeNull();
});

it.each(SETTING_NAMES)('%s says what is allowed, and either its default or what happens without', (name) => {
  const { allowed, default: otherwise, unset } = describeSetting(name);
  expect(allowed).toEqual(expect.any(String));
  expect([otherwise, unset].filter((each) => each !== undefined)).toHaveLength(1);
});
