import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import type { Logger } from 'pino';
import type { SecretSource } from '../config/kinds.js';
import type { Settings } from '../config/settings.js';
import { withOwner } from '../errors/problem-table.js';
import { lookups } from '../egress/lookups.js';
import { readCertificates } from '../files/certificate-files.js';
import type { Clock, Instant } from '../time/clock.js';
import { TIMED_OUT, within } from '../time/deadline.js';
import { toCode, toReason } from './redis-reason.js';

export class RedisFailure extends Error {
  /** @param code a code of redis-reason.ts, of Redis, or of the connection */
  constructor(readonly code: string) {
    super(`Redis cannot be used: ${code}`);
  }
}

export type Command = readonly (string | Buffer)[];
/** REDIS_URL is read for each connection, because its file may change. */
export type RedisSettings = Pick<Settings, 'REDIS_CA_FILE' | 'REDIS_KEY_PREFIX'> & { readonly REDIS_URL: SecretSource };

/** Sets a key's lifetime, ms, if it has the given value. 0 deletes it. */
export const EXPIRE_IF_EQUAL =
  "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/** A request waits at most this long for Redis, ms, without the transfer of a copy. */
const USUAL_WAIT_MS = 200;
/** A day. The times of a clock that is further off cannot be used. */
const CLOCK_TRUSTED_WITHIN_MS = 86_400_000;
/** A new connection must answer within this part of the wait: a request makes several round trips. */
const MAX_ROUND_TRIPS = 4;
/** Connecting may take this many times as long. */
const CONNECT_WAITS = 5;
const RETRY_MS = 250;
const PING_EVERY_MS = 300;

type RedisClient = ReturnType<typeof createRedisClient>;

/** The connection to Redis. After a failure, it is closed, and new ones are opened and checked until one works. */
export class RedisConnection {
  #client: RedisClient | null = null;
  /** The reason why Redis cannot be used, in words; null if there is none. */
  trouble: string | null = null;
  #retry: NodeJS.Timeout | undefined;
  #ping: NodeJS.Timeout | undefined;
  /** Calls of `send` under way. */
  #sending = 0;
  #closed = false;

  constructor(
    private readonly settings: RedisSettings,
    private readonly logger: Logger,
    private readonly clock: Clock,
    readonly waitMs: number = USUAL_WAIT_MS,
    private readonly atConnect: () => Promise<readonly Command[]> = async () => [],
  ) {}

  /** Connects, retrying until `close`. Resolves after the first attempt, which takes at most 1.5 s. */
  async connect(): Promise<void> {
    try {
      const client = await this.#open();
      if (this.#closed) return client.destroy();
      this.#client = client;
      client.on('error', (error: unknown) => client === this.#client && this.#fail(error));
      if (this.trouble !== null) {
        this.logger.info({ event: 'sharing.recovered', what: 'redis' }, 'Redis can be used again');
      }
      this.trouble = null;
      this.#ping = setInterval(() => this.#askIfIdle(), PING_EVERY_MS).unref();
    } catch (error) {
      this.#tryLater(error);
    }
  }

  /** Sends commands together. Texts in replies are Buffers, and a key of another type is null. @throws RedisFailure */
  async send<T>(
    commands: readonly Command[],
    withinMs: number,
    read = (replies: readonly unknown[]): T => replies as T,
  ): Promise<T> {
    const client = this.#client;
    if (!client) throw new RedisFailure('not-connected');
    this.#sending += 1;
    try {
      return read(await exchange(client, commands, withinMs));
    } catch (error) {
      if (client === this.#client) this.#fail(error);
      throw error instanceof RedisFailure ? error : new RedisFailure(toCode(error));
    } finally {
      this.#sending -= 1;
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#ping);
    this.#client?.destroy();
  }

  /** The library's own PING has no time limit: an endless reply would fill the memory of an idle gateway. */
  #askIfIdle(): void {
    if (this.#sending > 0) return;
    this.send([['PING']], CONNECT_WAITS * this.waitMs).catch(() => undefined);
  }

  /** @throws RedisFailure or an error of the library */
  async #open(): Promise<RedisClient> {
    const connectMs = CONNECT_WAITS * this.waitMs;
    const client = createRedisClient(this.settings, connectMs);
    // a reply that is not Redis' is an error of the client, and the command still waits
    const failing = once(client, 'error').then(([error]) => Promise.reject(error as Error));
    const connecting = client.connect();
    try {
      await inTime(Promise.race([connecting, failing]), connectMs);
      await Promise.race([this.#check(client), failing]);
      return client;
    } catch (error) {
      client.destroy();
      // a client destroyed while connecting still connects
      connecting.then(
        () => client.destroy(),
        () => undefined,
      );
      throw error;
    }
  }

  /** Sends each kind of command that sharing uses, on a key that it then deletes. */
  async #check(client: RedisClient): Promise<void> {
    const key = `${this.settings.REDIS_KEY_PREFIX}probe:${randomUUID()}`;
    const commands: Command[] = [
      ['TIME'],
      ['SET', key, 'x', 'NX', 'PX', '1000'],
      ['GET', key],
      ['STRLEN', key],
      ['GETRANGE', key, '0', '0'],
      ['EVAL', EXPIRE_IF_EQUAL, '1', key, 'x', '0'],
      ['DEL', key],
      ...(await this.atConnect()),
    ];
    const [hello] = await exchange(client, [['HELLO']], this.waitMs);
    const mode = modeOf(hello);
    if (mode === 'cluster' || mode === 'sentinel') throw new RedisFailure(mode);
    const [time] = await exchange(client, commands, this.waitMs);
    readTime(time, this.clock.now());
    await exchange(client, [['PING']], this.waitMs / MAX_ROUND_TRIPS);
  }

  #fail(error: unknown): void {
    if (!this.#client) return;
    clearInterval(this.#ping);
    this.#client.destroy();
    this.#client = null;
    this.#tryLater(error);
  }

  #tryLater(error: unknown): void {
    if (this.#closed) return;
    const reason = toReason(error);
    if (this.trouble === null) {
      this.logger.warn(
        { event: 'sharing.unavailable', what: 'redis', ...withOwner('sharing-unavailable'), reason },
        `Redis cannot be used: ${reason}. This instance works alone`,
      );
    }
    this.trouble = reason;
    this.#retry = setTimeout(() => void this.connect(), RETRY_MS).unref();
  }
}

/** The reply to TIME, ms since 1970. @throws RedisFailure if it is none, or too far from our clock */
export function readTime(reply: unknown, { wall }: Instant): number {
  const [seconds, micros] = Array.isArray(reply) ? (reply as unknown[]).map(Number) : [];
  const ms = Number(seconds) * 1000 + Number(micros) / 1000;
  if (!Number.isFinite(ms)) throw new RedisFailure('nonsense');
  if (Math.abs(ms - wall) > CLOCK_TRUSTED_WITHIN_MS) throw new RedisFailure('clock');
  return ms;
}

/** `standalone`, `cluster` or `sentinel`, from the reply to HELLO, a list of names and values. */
function modeOf(hello: unknown): string {
  const words = Array.isArray(hello) ? (hello as unknown[]).map(String) : [];
  return words[words.indexOf('mode') + 1] ?? '';
}

async function exchange(
  client: RedisClient,
  commands: readonly Command[],
  withinMs: number,
): Promise<readonly unknown[]> {
  // no reply of ours is a big number, which would take seconds to read
  const options = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.BIG_NUMBER]: String } };
  const replies = Promise.all(
    commands.map((command) => client.sendCommand<unknown>([...command], options).catch(toNullIfOtherType)),
  );
  return inTime(replies, withinMs);
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const result = await within(work, ms);
  if (result !== TIMED_OUT) return result;
  // this process may have been blocked, with the replies waiting to be read
  await setImmediate();
  const late = await within(work, 0);
  if (late === TIMED_OUT) throw new RedisFailure('timeout');
  return late;
}

function createRedisClient({ REDIS_URL, REDIS_CA_FILE: caFile }: RedisSettings, connectTimeout: number) {
  const url = REDIS_URL.read().trim();
  const limits = {
    connectTimeout,
    lookup: lookups.optional,
    // requests give up much sooner; a process that was itself blocked must not lose its connection
    socketTimeout: 5000,
    reconnectStrategy: false as const,
  };
  const client = createClient({
    url,
    // version 3 greets with replies that the library reads in its own way
    RESP: 2,
    socket:
      url.startsWith('rediss:') && caFile
        ? { ...limits, tls: true, ca: readCertificates(caFile).pem, allowPartialTrustChain: true }
        : limits,
    disableOfflineQueue: true,
    // an ACL may forbid it
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
