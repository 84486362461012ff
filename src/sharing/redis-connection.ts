import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import type { Logger } from 'pino';
import type { SecretSource } from '../config/secret-source.js';
import type { Settings } from '../config/settings.js';
import { TIMED_OUT, within } from '../time/deadline.js';
import { TimeBudget } from './time-budget.js';

/** Redis is unreachable, too slow, or refuses. `reason` is a word for the log: its own code, or that of the connection. */
export class RedisFailure extends Error {
  constructor(readonly reason: string) {
    super(`Redis cannot be used: ${reason}`);
  }
}

export type Command = readonly (string | Buffer)[];
/** REDIS_URL is read for each connection, because its file may change. */
type RedisSettings = Pick<Settings, 'REDIS_CA_FILE' | 'REDIS_KEY_PREFIX'> & { readonly REDIS_URL: SecretSource };

/** Sets how long a key lives, ms, if it has the given value. With 0 it is gone. */
export const EXPIRE_IF_EQUAL =
  "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/** The longest a request waits for Redis. */
export const REQUEST_WAIT_MS = 200;
const CONNECT_MS = 1000;
const PROBE_EVERY_MS = 250;

/**
 * The connection to Redis, and whether it can be used: the first failure of a series is logged as `sharing.unavailable`.
 * After it nothing is sent but a probe of every kind of command we use; when that succeeds, `sharing.recovered` is logged.
 */
export class RedisConnection {
  readonly #settings: RedisSettings;
  readonly #logger: Logger;
  #client: ReturnType<typeof createRedisClient>;
  #trouble: string | null = null;
  #nextProbe: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: RedisSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.#client = this.#create();
  }

  /** The reason why Redis cannot be used; null if it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Connects, and goes on trying until `close`. Resolves when connected, after 1 s at the latest. */
  async connect(): Promise<void> {
    const result = await within(
      this.#client.connect().catch((error: unknown) => this.failed(toReason(error))),
      CONNECT_MS,
    );
    if (result === TIMED_OUT) this.failed('timeout');
  }

  /**
   * Sends commands together; gives their replies, strings as Buffers. A key of another type reads as null.
   * @throws RedisFailure, at once while Redis cannot be used
   */
  async send(commands: readonly Command[], budget: TimeBudget): Promise<readonly unknown[]> {
    if (this.#trouble !== null) throw new RedisFailure(this.#trouble);
    try {
      return await this.#exchange(commands, budget);
    } catch (error) {
      throw this.failed(toReason(error));
    }
  }

  /** Sends each kind of command that sharing uses, on a key that it deletes again. @throws RedisFailure */
  async probe(): Promise<void> {
    if (this.#trouble !== null) throw new RedisFailure(this.#trouble);
    try {
      await this.#probe();
    } catch (error) {
      throw this.failed(toReason(error));
    }
  }

  /** Marks Redis as unavailable until a probe succeeds. */
  failed(reason: string): RedisFailure {
    if (this.#trouble === null && !this.#closed) {
      this.#trouble = reason;
      this.#logger.warn(
        { event: 'sharing.unavailable', what: 'redis', code: 'sharing-unavailable', owner: 'operator', reason },
        `Redis cannot be used (${reason}): this instance works alone`,
      );
      this.#probeSoon();
    }
    return new RedisFailure(reason);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#nextProbe);
    this.#client.destroy();
  }

  #create() {
    const client = createRedisClient(this.#settings);
    const isInUse = () => !this.#closed && client === this.#client;
    client.on('error', (error: unknown) => isInUse() && this.failed(toReason(error)));
    // destroyed while connecting, the client connects nevertheless
    client.on('ready', () => isInUse() || client.destroy());
    client.unref();
    return client;
  }

  async #exchange(commands: readonly Command[], budget: TimeBudget): Promise<readonly unknown[]> {
    const client = this.#client;
    if (!client.isReady) throw new RedisFailure('not-connected');
    const replies = Promise.all(
      commands.map((command) =>
        client
          .sendCommand<unknown>([...command], { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } })
          .catch(toNullIfOtherType),
      ),
    );
    // they may fail after the deadline
    replies.catch(() => undefined);
    const result = await budget.within(replies);
    if (result !== TIMED_OUT) return result;
    this.#reconnect();
    throw new RedisFailure('timeout');
  }

  /** Opens a new connection, because a reply to an earlier command may still arrive on this one. */
  #reconnect(): void {
    this.#client.destroy();
    if (this.#closed) return;
    this.#client = this.#create();
    this.#client.connect().catch(() => undefined);
  }

  #probeSoon(): void {
    this.#nextProbe = setTimeout(() => void this.#recover(), PROBE_EVERY_MS).unref();
  }

  async #recover(): Promise<void> {
    const works = await this.#probe().then(
      () => true,
      () => false,
    );
    if (this.#closed) return;
    if (!works) return this.#probeSoon();
    this.#trouble = null;
    this.#logger.info({ event: 'sharing.recovered', what: 'redis' }, 'Redis can be used again');
  }

  async #probe(): Promise<void> {
    const key = `${this.#settings.REDIS_KEY_PREFIX}probe:${randomUUID()}`;
    const commands = [
      ['SET', key, 'x', 'NX', 'PX', '1000'],
      ['TIME'],
      ['STRLEN', key],
      ['GETRANGE', key, '0', '0'],
      ['EVAL', EXPIRE_IF_EQUAL, '1', key, 'x', '0'],
      ['DEL', key],
    ];
    const replies = await this.#exchange(commands, new TimeBudget(REQUEST_WAIT_MS));
    if (!Array.isArray(replies[1])) throw new RedisFailure('nonsense');
  }
}

function createRedisClient({ REDIS_URL: url, REDIS_CA_FILE: caFile }: RedisSettings) {
  const { hostname, port, protocol, pathname } = new URL(url.read().trim());
  const address = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 6379 : Number(port),
    connectTimeout: CONNECT_MS,
    // requests give up much sooner; a process that was held up itself must not lose its connection
    socketTimeout: 5000,
    // without one, a socket timeout would be the end of the client
    reconnectStrategy: (retries: number) => Math.min(1000, 50 * 2 ** Math.min(retries, 5)),
  };
  const tls = { tls: true as const, ...(caFile !== undefined && { ca: readFileSync(caFile) }) };
  return createClient({
    socket: protocol === 'rediss:' ? { ...address, ...tls } : address,
    credentialsProvider: {
      type: 'async-credentials-provider',
      credentials: async () => {
        const { username, password } = new URL(url.read().trim());
        return {
          ...(username && { username: decodeURIComponent(username) }),
          password: decodeURIComponent(password),
        };
      },
    },
    database: Number(pathname.slice(1) || 0),
    disableOfflineQueue: true,
    pingInterval: 300,
    // an ACL may refuse it
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}

function toNullIfOtherType(error: unknown): null {
  if (error instanceof ErrorReply && error.message.startsWith('WRONGTYPE')) return null;
  throw error;
}

/** The code of the library's error: its message may contain an address. */
function toReason(error: unknown): string {
  if (error instanceof RedisFailure) return error.reason;
  const { code, message, constructor } = error as NodeJS.ErrnoException;
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  return typeof code === 'string' ? code : constructor.name;
}
