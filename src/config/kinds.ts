import { isIP } from 'node:net';
import { z } from 'zod';
import { toCidr, toNetworks } from './cidr.js';
import { readCertificates } from '../files/certificate-files.js';
import { whyUnusable } from '../files/small-file.js';

// Each schema parses the text of a variable. Its messages continue a sentence that begins with the variable's name.

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  const number = z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number);
  return number.pipe(z.number().min(min, error).max(max, error)).describe(`${min}–${max}`);
}

export const port = wholeNumber(0, 65_535);

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` }).describe(words.join(', '));

export const anyText = (description: string) => z.string().describe(description);

export const path = anyText('path');

export const pemFile = anyText('path of a PEM file');

/** The path of a file that `use` accepts. @param use throws FileUnusable */
export const usableFile = (use: (file: string) => unknown) =>
  z.string().superRefine((file, context) => {
    const problem = whyUnusable(() => use(file));
    if (problem !== null) context.addIssue(problem);
  });

/** The path of a file with PEM certificates. */
export const certificatesFile = usableFile(readCertificates).describe('path of a PEM file');

/** Bytes that are not UTF-8 become replacement characters: rejected, because a wrong password may lock the account. */
const utf8 = z.string().refine((text) => !text.includes('\ufffd'), 'is not UTF-8');

const oneLine = utf8
  .min(1, 'is empty')
  .refine((text) => !/[\p{Cc}\ufeff]/u.test(text), 'must not contain control characters or line ends');

export const passcode = utf8.describe('text');

export const shortText = (max: number) =>
  oneLine.max(max, `must have at most ${max} characters`).describe(`text, at most ${max} characters`);

export const password = oneLine.describe('text');

export const userName = oneLine
  .refine((text) => !text.includes(':'), 'must not contain ":" (HTTP Basic cannot carry it)')
  .describe('text without `:`');

/** A secret and where it comes from. `read` reads the file each time, to pick up a change. */
export interface SecretSource {
  /** The file of the secret, or null if the environment has the value. */
  readonly file: string | null;
  /** @throws FileUnusable */
  read(): string;
}

/** A secret of this kind, set directly in the environment. */
export const secret = (kind: z.ZodType<string, string>) =>
  kind.transform((text): SecretSource => ({ file: null, read: () => text })).describe(kind.description ?? '');

/** A comma-separated list; `isGood` checks each item. Messages hide the part before an @, which may be a password. */
const listOf = (isGood: (item: string) => boolean, expected: string) =>
  z.string().transform((text, context) => {
    const parts = text.split(',').map((part) => part.trim());
    const items = parts.filter((part) => part !== '');
    const bad = items.find((item) => !isGood(item));
    if (bad !== undefined) context.addIssue(`contains "${bad.replace(/^.*@/s, '…@')}", which is not ${expected}`);
    if (items.length === 0) context.addIssue('must have at least one entry');
    return items;
  });

export const cidrs = listOf((text) => toCidr(text) !== null, 'an address or CIDR').describe('addresses and CIDRs');

export const clients = listOf(
  (text) => toNetworks([text]).length > 0,
  'an address, a CIDR, loopback, private or any',
).describe('addresses, CIDRs, `loopback`, `private`, `any`');

const NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;

/** Names as in a Host header, in lower case and without port. */
export const hostNames = z
  .string()
  .toLowerCase()
  .pipe(
    listOf((text) => NAME.test(text) || /^\[[0-9a-f:.]+\]$/.test(text), 'a host name (without port; IPv6 in brackets)'),
  )
  .describe('names without port');

export const names = listOf(
  (text) => NAME.test(text) || isIP(text) !== 0,
  'a host name or an IP address (IPv6 without brackets)',
).describe('names and addresses');

/** Node finds no origin in the address of a desktop app: `tauri://localhost`. */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text)
    ? URL.parse(text)?.origin === text
    : /^(?!file:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$/.test(text);

export const origins = listOf(
  isOrigin,
  'an origin (scheme, host and port only, in lower case, without a slash at the end)',
).describe('origins without a slash at the end');

export const ipAddress = z
  .string()
  .refine((text) => isIP(text) !== 0, 'must be an IP address')
  .describe('IP address');

export const listenHost = z
  .string()
  .regex(/^[A-Za-z0-9.:_-]+$/, 'must be an IP address or a host name')
  .describe('address or host name');

/** An address with one of these schemes. Its user and password are decodable. */
const address = (...schemes: readonly string[]) =>
  z.string().transform((text, context) => {
    const url = URL.parse(text.trim());
    const isExpected = url !== null && url.hostname !== '' && schemes.includes(url.protocol);
    if (isExpected && hasGoodCredentials(url)) return url;
    const isBadPassword = isExpected || (url === null && text.includes('@'));
    context.addIssue(
      isBadPassword
        ? 'is not an address; percent-encode user and password: @ as %40, / as %2F, # as %23, ? as %3F, % as %25'
        : `must be an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    );
    return z.NEVER;
  });

/** True if user and password can be decoded and no @ follows the host, as after a password cut off at a / or #. */
function hasGoodCredentials({ username, password, pathname, search, hash }: URL): boolean {
  try {
    decodeURIComponent(`${username}${password}`);
    return !`${pathname}${search}${hash}`.includes('@');
  } catch {
    return false;
  }
}

const httpsUrl = address('https:').refine((url) => !url.username && !url.password, 'must not contain credentials');

/** Without a trailing slash. */
export const httpsAddress = httpsUrl
  .refine((url) => !/[?#]/.test(url.href), 'must not have a query or fragment')
  .transform((url) => `${url.origin}${url.pathname.replace(/\/+$/, '')}`)
  .describe('https://; no credentials, query or fragment');

/** What the gateway appends to an address of the bank. */
const APPENDED = /(?:\/api\/v1(?:\/accounts|\/authorizations(?:\/authorize)?)?)$/i;

/** A base address of the bank: it ends before the paths that the gateway appends. */
export const bankAddress = httpsAddress.superRefine((address, context) => {
  const [appended] = APPENDED.exec(address) ?? [];
  if (appended === undefined) return;
  context.addIssue(`must end before ${appended}, which the gateway appends: ${address.slice(0, -appended.length)}`);
});

/** The address of a page, for display only. */
export const httpsPage = httpsUrl
  .transform((url) => url.href)
  .refine((href) => href.length <= 300, 'must have at most 300 characters')
  .describe('https://');

/** `direct` (null), or the address of a CONNECT proxy; a bare host:port means http://, as is usual for HTTPS_PROXY. */
export const proxyAddress = z
  .string()
  .transform((text) => {
    if (text.toLowerCase() === 'direct') return null;
    return text.includes('://') ? text : `http://${text}`;
  })
  .pipe(address('http:', 'https:').nullable())
  .describe('http://, https:// or `direct`');

/** The address of a Redis server, optionally with user, password and database number. */
export const redisAddress = address('redis:', 'rediss:')
  .refine(
    ({ pathname, href }) => /^(\/\d{0,4})?$/.test(pathname) && !/[?#]/.test(href),
    'may have a database number after the host, and nothing else',
  )
  .transform((url) => url.href)
  .describe('redis:// or rediss://');
