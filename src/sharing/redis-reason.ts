import { ErrorReply } from '@redis/client';
import { TCP_FAILURES } from '../egress/dial.js';
import { UNTRUSTED } from '../egress/tls-words.js';

const CLUSTER = 'Redis Cluster is not supported';
const CLOSED = 'the connection was closed';

/**
 * Reasons why Redis cannot be used, by the code of its reply, of the connection, or of the check of a new connection.
 */
const REASONS: Readonly<Record<string, string>> = {
  ...TCP_FAILURES,
  timeout: 'it did not answer in time',
  nonsense: 'its answer makes no sense',
  clock: "its clock differs from this machine's by more than a day",
  cluster: CLUSTER,
  MOVED: CLUSTER,
  NOAUTH: 'it wants a user and password in REDIS_URL',
  WRONGPASS: 'it rejected the user or password of REDIS_URL',
  NOPERM: 'the user of REDIS_URL may not run a command or use a key that sharing needs: see the ACL of docs/fleet.md',
  READONLY: 'it is a read-only replica: use the primary',
  OOM: 'its memory is full',
  LOADING: 'it is still loading its data',
  ERR: 'it rejected a command: Redis 6.2 or newer is needed',
  ConnectionTimeoutError: 'no connection in time',
  SocketTimeoutError: 'it did not answer in time',
  ECONNRESET: CLOSED,
  SocketClosedUnexpectedlyError: CLOSED,
  EPROTO: 'it does not speak TLS here: compare redis:// and rediss://',
  FileUnusable: 'REDIS_URL_FILE or REDIS_CA_FILE cannot be read',
};

/**
 * The reason in words, with its code in brackets. It never contains the library's message, which may include an
 * address.
 */
export function toReason(error: unknown): string {
  const code = toCode(error);
  const others = error instanceof ErrorReply ? 'it rejected a command' : 'the connection failed';
  const distrust = UNTRUSTED[code];
  if (distrust) return `its certificate is not trusted: ${distrust} (${code}); compare REDIS_CA_FILE`;
  return `${REASONS[code] ?? others} (${code})`;
}

/** The first word of a Redis reply, else the error's code, else its class. */
export function toCode(error: unknown): string {
  const { code, message, constructor } = error as NodeJS.ErrnoException;
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  return typeof code === 'string' ? code : constructor.name;
}
