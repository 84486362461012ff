import { describe, expect, it } from '@jest/globals';
import { describeSetting, SETTING_NAMES, settingsSchema, type SettingName } from './settings-schema.js';

/** The parsed value; a string for an address or a secret. */
function parse(name: SettingName, text: string): unknown {
  const value = settingsSchema.shape[name].parse(text);
  if (value instanceof URL) return value.href;
  return typeof value === 'object' && value !== null && 'read' in value ? value.read() : value;
}

/** The error in `text`, or null. */
function errorOf(name: SettingName, text: string): string | null {
  const result = settingsSchema.shape[name].safeParse(text);
  return result.success ? null : (result.error.issues[0]?.message ?? '');
}

describe('values that are accepted', () => {
  it.each<[SettingName, string, unknown]>([
    ['BANK_PAGE_SIZE', '1', 1],
    ['BANK_PAGE_SIZE', '5000', 5000],
    ['BANK_PAGE_SIZE', '042', 42],
    ['PORT', '0', 0],
    ['BANK_BASE_URL', 'https://api.bank.example/', 'https://api.bank.example'],
    ['BANK_BASE_URL', 'https://api.bank.example/gateway/v2/', 'https://api.bank.example/gateway/v2'],
    ['BANK_BASE_URL', ' https://API.bank.example:8443 ', 'https://api.bank.example:8443'],
    ['BANK_BASE_URL', 'https://[::1]:8443/', 'https://[::1]:8443'],
    ['BANK_USERNAME', 'Jürgen € $HOME"#', 'Jürgen € $HOME"#'],
    ['BANK_PASSWORD', ' a:b \'"$#\\ ', ' a:b \'"$#\\ '],
    ['EGRESS_PROXY_URL', 'DIRECT', null],
    ['ALLOWED_CLIENTS', '10.1.0.0/16, 192.0.2.7 ,any,', ['10.1.0.0/16', '192.0.2.7', 'any']],
    ['ALLOWED_CLIENTS', 'fd00::/8,private', ['fd00::/8', 'private']],
    ['ALLOWED_HOSTS', 'Accounts.Internal, 127.0.0.1,[::1]', ['accounts.internal', '127.0.0.1', '[::1]']],
    ['CORS_ORIGINS', 'https://a.example,http://localhost:4200', ['https://a.example', 'http://localhost:4200']],
    [
      'CORS_ORIGINS',
      'tauri://localhost,app://-,capacitor://localhost:80',
      ['tauri://localhost', 'app://-', 'capacitor://localhost:80'],
    ],
    ['SANDBOX_ALLOWED_IPS', '127.0.0.1,::1,10.0.0.0/8', ['127.0.0.1', '::1', '10.0.0.0/8']],
    ['SANDBOX_NAMES', 'Bank.example,::1,127.0.0.1', ['Bank.example', '::1', '127.0.0.1']],
    ['HOST', '::', '::'],
    ['EGRESS_LOCAL_ADDRESS', 'fd00::5', 'fd00::5'],
    ['ENVIRONMENT', 'x'.repeat(40), 'x'.repeat(40)],
    ['LOG_LEVEL', 'silent', 'silent'],
    ['EGRESS_PROXY_URL', 'HTTP://proxy.example:3128', 'http://proxy.example:3128/'],
    ['EGRESS_PROXY_URL', 'proxy.example:3128', 'http://proxy.example:3128/'],
    ['EGRESS_PROXY_URL', 'http://someone:p%40ss%25@[fd00::1]', 'http://someone:p%40ss%25@[fd00::1]/'],
    ['REDIS_URL', 'redis://redis.example', 'redis://redis.example'],
    ['REDIS_URL', 'rediss://someone:p%40ss@redis.example:6380/15', 'rediss://someone:p%40ss@redis.example:6380/15'],
  ])('%s=%j', (name, text, value) => {
    expect(parse(name, text)).toEqual(value);
  });
});

describe('values that are rejected', () => {
  it.each<[SettingName, string, string]>([
    ...['0', '5001', 'abc', '-1', '1.5', '1e2', '0x10', ' 5', '', '٣', '5\n', '1'.repeat(22)].map(
      (text): [SettingName, string, string] => ['BANK_PAGE_SIZE', text, 'must be a whole number from 1 to 5000'],
    ),
    ...['http://api.bank.example', 'http://someone:hunter2@api.bank.example', 'someone:hunter2@api.bank.example'].map(
      (text): [SettingName, string, string] => ['BANK_BASE_URL', text, 'must be an address that begins with https://'],
    ),
    ['BANK_BASE_URL', 'api.bank.example', 'must be an address that begins with https://'],
    ['BANK_BASE_URL', 'https://api.bank.example:70000', 'must be an address that begins with https://'],
    ['BANK_BASE_URL', 'https://someone:hunter2@api.bank.example', 'must not contain credentials'],
    ['BANK_BASE_URL', 'https://api.bank.example?', 'must not have a query or fragment'],
    ['BANK_BASE_URL', 'https://api.bank.example/#', 'must not have a query or fragment'],
    ['BANK_USERNAME', 'a:b', 'must not contain ":"'],
    ['BANK_USERNAME', 'a\nb', 'must not contain control characters'],
    ['BANK_PASSWORD', 'tab\t', 'must not contain control characters'],
    ['BANK_PASSWORD', '\ufeffpassword', 'must not contain control characters'],
    ['BANK_PASSWORD', 'w\ufffdrd', 'is not UTF-8'],
    ['EGRESS_PROXY_URL', 'socks5://someone:hunter2@proxy.example', 'begins with http:// or https://'],
    ['EGRESS_PROXY_URL', 'http://', 'begins with http:// or https://'],
    ['EGRESS_PROXY_URL', 'http://someone:hun/ter2@proxy.example', 'percent-encode user and password'],
    ['EGRESS_PROXY_URL', 'http://host:1/ter2@proxy.example', 'percent-encode user and password'],
    ['EGRESS_PROXY_URL', 'http://someone:hunter2%ff@proxy.example', 'percent-encode user and password'],
    ['REDIS_URL', 'http://redis.example', 'begins with redis:// or rediss://'],
    ['REDIS_URL', 'someone:hunter2@redis.example', 'begins with redis:// or rediss://'],
    ['REDIS_URL', 'redis://someone:hunter2%ff@redis.example', 'percent-encode user and password'],
    ['REDIS_URL', 'redis://redis.example?db=1', 'may have a database number'],
    ['REDIS_URL', 'redis://redis.example/accounts', 'may have a database number'],
    ...['10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'everyone', '10.0.0.0/', '10.0.0.0/8/8', '*', '10.0.0.0/-1'].map(
      (text): [SettingName, string, string] => ['ALLOWED_CLIENTS', `loopback,${text}`, `contains "${text}"`],
    ),
    ['ALLOWED_CLIENTS', ' , ', 'must have at least one entry'],
    ['ALLOWED_CLIENTS', 'someone:hunter2@10.0.0.1', 'contains "…@10.0.0.1"'],
    ...['a b', 'https://a.example', 'a.example:1', '[::1]', '*.example'].map((text): [SettingName, string, string] => [
      'SANDBOX_NAMES',
      text,
      `contains "${text}"`,
    ]),
    ['SANDBOX_ALLOWED_IPS', 'loopback', 'contains "loopback"'],
    ...['localhost:3000', '*', '*.example', '::1', 'https://accounts.example', 'a b', '-a', 'a.'].map(
      (text): [SettingName, string, string] => ['ALLOWED_HOSTS', text, `contains "${text}"`],
    ),
    ...['a.example', 'https://a.example/', 'https://A.example', 'https://a.example:443', 'null', '*', 'file:///x'].map(
      (text): [SettingName, string, string] => ['CORS_ORIGINS', text, `contains "${text}"`],
    ),
    ['CORS_ORIGINS', 'https://someone:hun/ter2@a.example', 'contains "…@a.example"'],
    ['HOST', 'http://localhost', 'must be an IP address or a host name'],
    ['HOST', '[::1]', 'must be an IP address or a host name'],
    ['EGRESS_LOCAL_ADDRESS', 'eth0', 'must be an IP address'],
    ['ENVIRONMENT', 'x'.repeat(41), 'must have at most 40 characters'],
    ['LOG_LEVEL', 'INFO', 'must be one of trace, debug, info'],
    ['BANK_TLS_MAX_VERSION', '1.1', 'must be one of 1.2, 1.3'],
  ])('%s=%j: %s', (name, text, problem) => {
    expect(errorOf(name, text)).toContain(problem);
    expect(errorOf(name, text)).not.toMatch(/someone|hunter2|ter2/);
  });

  it('no duration exceeds the range of a Node timer', () => {
    for (const name of SETTING_NAMES.filter((each) => each.endsWith('_MS'))) {
      expect([name, errorOf(name, '2147483648')]).not.toEqual([name, null]);
    }
  });
});

it.each(SETTING_NAMES)('%s: example and default are accepted, and the accepted values are described', (name) => {
  const { allowed, example, default: text } = describeSetting(name);
  expect(allowed).not.toBe('');
  // the files in the examples do not exist here
  if (!allowed.startsWith('path')) expect(errorOf(name, example.replace(/^'(.*)'$/, '$1'))).toBeNull();
  if (text !== undefined) expect(errorOf(name, text)).toBeNull();
});

describe('an address of the bank that ends in what the gateway appends', () => {
  it.each<[SettingName, string, string]>([
    ['BANK_BASE_URL', 'https://bank.example/api/v1', '/api/v1, which the gateway appends: https://bank.example'],
    [
      'BANK_BASE_URL',
      'https://bank.example/x/api/v1/accounts/',
      '/api/v1/accounts, which the gateway appends: https://bank.example/x',
    ],
    ['BANK_AUTH_URL', 'https://auth.example/API/v1/authorizations/authorize', 'appends: https://auth.example'],
  ])('%s=%s is rejected, with the right value', (name, text, problem) => {
    expect(errorOf(name, text)).toContain(problem);
  });

  it('the negative case: a path that only resembles it', () => {
    expect(errorOf('BANK_BASE_URL', 'https://bank.example/api/v1/gateway')).toBeNull();
  });

  it.each(['*', 'null', 'file:///x', 'tauri://localhost/', 'app://'])('CORS_ORIGINS=%s is no origin', (text) => {
    expect(errorOf('CORS_ORIGINS', text)).toContain('which is not an origin');
  });
});
