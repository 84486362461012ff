import { ErrorReply } from '@redis/client';
import { TCP_FAILURES } from '../egress/dial.js';
import { alertOf, handshakeInWords, isNotTls, isTlsFailure, UNTRUSTED } from '../egress/tls-words.js';

const CLUSTER = 'Redis Cluster is not supported';
const CLOSED = 'the connection was closed';
const DENIED_COMMAND =
  'the user of REDIS_URL may not run a command or use a key that sharing needs: see the ACL of docs/fleet.md';

/** By the code of its reply, of the connection, or of the check of a new connection. */
const REASONS: Readonly<Record<string, string>> = {
  ...TCP_FAILURES,
  timeout: 'it did not answer in time: it does not speak TLS (rediss://), is overloaded, or is farther away than 50 ms',
  nonsense: 'its reply makes no sense: the server may not be Redis',
  clock: "its clock differs from this machine's by more than a day",
  cluster: CLUSTER,
  sentinel: 'REDIS_URL leads to a Sentinel, which stores nothing: name the primary itself',
  MOVED: CLUSTER,
  CLUSTERDOWN: CLUSTER,
  NOAUTH: 'it wants a user and password in REDIS_URL',
  WRONGPASS: 'it rejected the user or password of REDIS_URL',
  NOPERM: DENIED_COMMAND,
  READONLY: 'it is a read-only replica: use the primary',
  OOM: 'its memory is full',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it is a replica that has lost its primary: use the primary',
  NOREPLICAS: 'it accepts no writes without replicas (min-replicas-to-write)',
  MISCONF: 'it cannot save to its disk, and accepts no writes',
  BUSY: 'it is busy with a script of another client',
  DENIED: 'its protected mode rejects other machines',
  ConnectionTimeoutError: 'no connection in time; it may not speak TLS (rediss://)',
  SocketTimeoutError: 'it did not answer in time',
  ECONNRESET: CLOSED,
  SocketClosedUnexpectedlyError: CLOSED,
  FileUnusable: 'REDIS_URL_FILE or REDIS_CA_FILE cannot be used',
};

/** Replies that begin with `ERR` have no separate code. The first match counts. */
const ERR_REPLIES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /^ERR unknown (sub)?command/i,
    'it does not know a command: sharing needs Redis 6.2 or newer, with no command renamed',
  ],
  [/script.*permission|permission.*script|executing the script can't/i, DENIED_COMMAND],
  [/max number of clients/i, 'it has as many connections as it allows (maxclients)'],
  [/DB index/i, 'it does not have the database that REDIS_URL names'],
];

/** Why Redis cannot be used, without the library's message, which may include an address. */
export function toReason(error: unknown): string {
  if (error instanceof Error && isTlsFailure(error)) return tlsInWords(error);
  const code = toCode(error);
  const distrust = UNTRUSTED[code];
  if (distrust) return `its certificate is not trusted: ${distrust} (${code}); compare REDIS_CA_FILE`;
  return `${wordsOf(error, code)} (${code})`;
}

function wordsOf(error: unknown, code: string): string {
  if (!(error instanceof ErrorReply)) return REASONS[code] ?? 'the connection failed';
  return REASONS[code] ?? ERR_REPLIES.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'it rejected a command';
}

function tlsInWords(error: Error): string {
  if (isNotTls(error)) return 'it does not speak TLS here: compare redis:// and rediss://';
  if (alertOf(error) === '116')
    return 'it wants a client certificate, and the gateway has none for Redis (TLS alert 116)';
  return `the TLS handshake failed: ${handshakeInWords(error)}`;
}

/** The first word of a Redis reply, else the error's code, else its class. */
export function toCode(error: unknown): string {
  const { code, message, constructor } = error as NodeJS.ErrnoException;
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  // the library's parser gives its errors no code
  if (message.startsWith('Unknown RESP type')) return 'nonsense';
  return typeof code === 'string' ? code : constructor.name;
}
