import { randomUUID } from 'node:crypto';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import type { Logger } from 'pino';
import type { SecretSource } from '../config/kinds.js';
import type { Settings } from '../config/settings.js';
import { readCertificates } from '../config/certificate-files.js';
import type { Clock } from '../time/clock.js';
import { TIMED_OUT } from '../time/deadline.js';
import { TimeBudget } from './time-budget.js';

/** Redis is unreachable, too slow, or refuses. `reason` is a word for the log: its own code, or that of the connection. */
export class RedisFailure extends Error {
  constructor(readonly reason: string) {
    super(`Redis cannot be used: ${reason}`);
  }
}

export type Command = readonly (string | Buffer)[];
/** REDIS_URL is read for each connection, because its file may change. */
export type RedisSettings = Pick<Settings, 'REDIS_CA_FILE' | 'REDIS_KEY_PREFIX'> & { readonly REDIS_URL: SecretSource };

/** Sets how long a key lives, ms, if it has the given value. With 0 it is gone. */
export const EXPIRE_IF_EQUAL =
  "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/** The longest a request waits for Redis, ms. */
const USUAL_WAIT_MS = 200;
/** Redis' clock is trusted within a day of ours: beyond, a date that it gives could be any. */
export const CLOCK_TRUSTED_WITHIN_MS = 86_400_000;
/** A connection may take that many times as long. */
const CONNECT_WAITS = 5;
const RETRY_MS = 250;

type RedisClient = ReturnType<typeof createRedisClient>;

/**
 * The connection to Redis. After a failure it is closed, and new ones are opened and probed until one works. The first failure of
 * a series is logged as `sharing.unavailable`, its end as `sharing.recovered`.
 */
export class RedisConnection {
  #client: RedisClient | null = null;
  #trouble: string | null = null;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly settings: RedisSettings,
    private readonly logger: Logger,
    private readonly clock: Clock,
    readonly waitMs: number = USUAL_WAIT_MS,
  ) {}

  /** The reason why Redis cannot be used; null if it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Connects, and retries until `close`. Resolves after the first attempt, which takes at most 1.2 s. */
  async connect(): Promise<void> {
    try {
      const client = await open(this.settings, this.clock.now().wall, this.waitMs);
      if (this.#closed) return client.destroy();
      this.#client = client;
      client.on('error', (error: unknown) => client === this.#client && this.failed(toReason(error)));
      if (this.#trouble !== null) {
        this.logger.info({ event: 'sharing.recovered', what: 'redis' }, 'Redis can be used again');
      }
      this.#trouble = null;
    } catch (error) {
      this.#tryLater(toReason(error));
    }
  }

  /**
   * Sends commands together and returns their replies, strings as Buffers. A key of another type reads as null.
   * @throws RedisFailure, at once while Redis cannot be used
   */
  async send(commands: readonly Command[], budget: TimeBudget): Promise<readonly unknown[]> {
    const client = this.#client;
    if (!client) throw new RedisFailure(this.#trouble ?? 'not-connected');
    try {
      return await exchange(client, commands, budget);
    } catch (error) {
      const reason = toReason(error);
      throw client === this.#client ? this.failed(reason) : new RedisFailure(reason);
    }
  }

  /** Closes the connection: Redis is unavailable until another one works. */
  failed(reason: string): RedisFailure {
    if (this.#client) {
      this.#client.destroy();
      this.#client = null;
      this.#tryLater(reason);
    }
    return new RedisFailure(reason);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#client?.destroy();
  }

  #tryLater(reason: string): void {
    if (this.#closed) return;
    if (this.#trouble === null) {
      this.logger.warn(
        { event: 'sharing.unavailable', what: 'redis', code: 'sharing-unavailable', owner: 'operator', reason },
        `Redis cannot be used (${reason}): this instance works alone`,
      );
    }
    this.#trouble ??= reason;
    this.#retry = setTimeout(() => void this.connect(), RETRY_MS).unref();
  }
}

/** Opens a connection and probes it. @throws RedisFailure or an error of the library */
async function open(settings: RedisSettings, nowMs: number, waitMs: number): Promise<RedisClient> {
  const client = createRedisClient(settings, CONNECT_WAITS * waitMs);
  const connecting = client.connect();
  try {
    if ((await new TimeBudget(CONNECT_WAITS * waitMs).within(connecting)) === TIMED_OUT)
      throw new RedisFailure('timeout');
    await probe(client, settings.REDIS_KEY_PREFIX, nowMs, waitMs);
    return client;
  } catch (error) {
    client.destroy();
    // a client that is destroyed while connecting still connects
    connecting.then(
      () => client.destroy(),
      () => undefined,
    );
    throw error;
  }
}

/** Sends each kind of command that sharing uses, on a key that it deletes again. */
async function probe(client: RedisClient, keyPrefix: string, nowMs: number, waitMs: number): Promise<void> {
  const key = `${keyPrefix}probe:${randomUUID()}`;
  const commands = [
    ['SET', key, 'x', 'NX', 'PX', '1000'],
    ['TIME'],
    ['STRLEN', key],
    ['GETRANGE', key, '0', '0'],
    ['EVAL', EXPIRE_IF_EQUAL, '1', key, 'x', '0'],
    ['DEL', key],
    // the library sends it while the connection is idle
    ['PING'],
  ];
  const replies = await exchange(client, commands, new TimeBudget(waitMs));
  const redisMs = toTimeMs(replies[1]);
  if (redisMs === null) throw new RedisFailure('nonsense');
  if (Math.abs(redisMs - nowMs) > CLOCK_TRUSTED_WITHIN_MS) throw new RedisFailure('clock');
}

/** The reply to TIME, ms since 1970; null if it is none. */
export function toTimeMs(reply: unknown): number | null {
  if (!Array.isArray(reply)) return null;
  const [seconds, micros] = (reply as unknown[]).map(Number);
  const ms = Number(seconds) * 1000 + Number(micros) / 1000;
  return Number.isFinite(ms) ? ms : null;
}

async function exchange(
  client: RedisClient,
  commands: readonly Command[],
  budget: TimeBudget,
): Promise<readonly unknown[]> {
  const options = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  const replies = Promise.all(
    commands.map((command) => client.sendCommand<unknown>([...command], options).catch(toNullIfOtherType)),
  );
  const result = await budget.within(replies);
  if (result === TIMED_OUT) throw new RedisFailure('timeout');
  return result;
}

function createRedisClient({ REDIS_URL, REDIS_CA_FILE: caFile }: RedisSettings, connectTimeout: number) {
  const url = REDIS_URL.read().trim();
  const limits = {
    connectTimeout,
    // requests give up much sooner; a process that was held up itself must not lose its connection
    socketTimeout: 5000,
    reconnectStrategy: false as const,
  };
  const client = createClient({
    url,
    socket:
      url.startsWith('rediss:') && caFile
        ? { ...limits, tls: true, ca: readCertificates(caFile).pem, allowPartialTrustChain: true }
        : limits,
    disableOfflineQueue: true,
    pingInterval: 300,
    // an ACL may refuse it
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  client.unref();
  // while connecting, `connect` throws it too
  client.on('error', () => undefined);
  return client;
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
