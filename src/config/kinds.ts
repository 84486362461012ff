import { isIP } from 'node:net';
import { z } from 'zod';
import { toCidr } from './cidr.js';

/**
 * The kinds of values that settings have. Each takes the text of a variable. Its messages read on after the variable's name;
 * its description is what is allowed.
 */

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .describe(`${min}–${max}`);

export const port = wholeNumber(0, 65_535);

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` }).describe(words.join(', '));

export const path = z
  .string()
  .refine((text) => !text.includes('\0'), 'must be the path of a file')
  .describe('path');

export const pemFile = path.describe('path of a PEM file');

export const anyText = (description: string) => z.string().describe(description);

const oneLine = z
  .string()
  // eslint-disable-next-line no-control-regex -- and the byte order mark that Windows editors write
  .refine((text) => !/[\u0000-\u001f\u007f\ufeff]/.test(text), 'must not contain control characters or line ends')
  // reading bytes that are no UTF-8 leaves a replacement character; a wrong password may lock the account
  .refine((text) => !text.includes('\ufffd'), 'is not UTF-8');

export const shortText = (max: number) =>
  oneLine.max(max, `must have at most ${max} characters`).describe(`text, at most ${max} characters`);

export const password = oneLine.describe('text');

export const userName = oneLine
  .refine((text) => !text.includes(':'), 'must not contain ":" (HTTP Basic cannot carry it)')
  .describe('text without `:`');

/** A value that is refused, for its message; what stands before an @ may be a password. */
const shown = (input: unknown): string => `"${String(input).replace(/^.*@/s, '…@')}"`;

function listOf(item: z.ZodType<string, string>) {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item).min(1, 'must name at least one'));
}

/** The value of the text, or the problem that it is refused with. */
function readBy<T>(read: (text: string, refuse: (problem: string) => never) => T) {
  return z.string().transform((text, context) =>
    read(text, (message) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }),
  );
}

/** Without slashes, what looks like a scheme may be a user name, which is not shown. */
const schemeOf = (url: URL, text: string): string => (text.includes('://') ? ` (it begins with ${url.protocol})` : '');

/** An https address without credentials, query or fragment; given back without trailing slash. */
export const httpsAddress = readBy((text, refuse) => {
  const url = URL.parse(text.trim());
  if (!url) return refuse('is not an address of the form https://host');
  if (url.protocol !== 'https:') {
    return refuse(`must begin with https://${schemeOf(url, text)}; the certificate is only sent over TLS`);
  }
  if (url.username || url.password) return refuse('must not hold credentials; use BANK_USERNAME and BANK_PASSWORD');
  if (text.includes('?')) return refuse('must not have a query');
  if (text.includes('#')) return refuse('must not have a fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}).describe('https://; no credentials, query or fragment');

const isCidr = (text: string): boolean => toCidr(text) !== null;

const cidr = z.string().refine(isCidr, { error: (issue) => `has ${shown(issue.input)}, which is no address or CIDR` });

export const cidrs = listOf(cidr).describe('addresses and CIDRs');

export const clients = listOf(
  z.string().refine((text) => ['loopback', 'private', 'any'].includes(text) || isCidr(text), {
    error: (issue) => `has ${shown(issue.input)}, which is no CIDR, nor loopback, private or any`,
  }),
).describe('CIDRs, `loopback`, `private`, `any`');

/** Names as they stand in a Host header, lower-case and without port. */
export const hostNames = listOf(
  z
    .string()
    .toLowerCase()
    .refine((text) => /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)$/.test(text), {
      error: (issue) => `has ${shown(issue.input)}, which is no host name (without port; IPv6 in brackets)`,
    }),
).describe('names without port');

export const names = listOf(z.string()).describe('names and addresses');

export const origins = listOf(
  z.string().refine((text) => /^https?:/.test(text) && URL.parse(text)?.origin === text, {
    error: (issue) =>
      `has ${shown(issue.input)}, which is no origin (scheme, host and port only, lower-case, no slash at the end)`,
  }),
).describe('origins without a slash at the end');

export const ipAddress = z
  .string()
  .refine((text) => isIP(text) !== 0, 'must be an IP address of this machine')
  .describe('IP address of this machine');

export const listenHost = z
  .string()
  .regex(/^[A-Za-z0-9.:_-]+$/, 'must be an IP address or a host name to listen on')
  .describe('address or host name');

const BAD_ENCODING = 'has user or password with a bad percent-encoding (write % as %25)';

const encodingHint = (text: string): string =>
  text.includes('@')
    ? '; user and password must be percent-encoded (@ as %40, / as %2F, # as %23, ? as %3F, % as %25)'
    : '';

/** `direct`, or the address of a CONNECT proxy; a bare host:port means http://, as with HTTPS_PROXY elsewhere. */
export const proxyAddress = readBy((text, refuse) => {
  if (text.toLowerCase() === 'direct') return null;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  // what follows the / or # of a password looks like a path
  if (!url?.hostname || `${url.pathname}${url.search}${url.hash}`.includes('@')) {
    return refuse(`is not the address of a proxy${encodingHint(text)}`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse(`must begin with http:// or https:// (it begins with ${url.protocol})`);
  }
  return canDecodeCredentials(url) ? url : refuse(BAD_ENCODING);
}).describe('http://, https:// or `direct`');

/** The address of a Redis server: user and password may stand in it, a database number behind it. */
export const redisAddress = readBy((text, refuse) => {
  const url = URL.parse(text.trim());
  if (!url?.hostname || /[?#]/.test(text)) {
    return refuse(`is not the address of a Redis server, which begins with redis:// or rediss://${encodingHint(text)}`);
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    return refuse(`must begin with redis:// or rediss://${schemeOf(url, text)}`);
  }
  if (!/^(\/\d{0,4})?$/.test(url.pathname)) {
    return refuse(`has a path that is no number of a database${encodingHint(text)}`);
  }
  return canDecodeCredentials(url) ? url : refuse(BAD_ENCODING);
}).describe('redis:// or rediss://');

export const keyPrefix = z
  .string()
  .regex(/^[A-Za-z0-9:_.{}-]{1,100}$/, 'must be 1 to 100 letters, digits and : _ . - { }')
  .describe('letters, digits and : _ . - { }');

function canDecodeCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}
