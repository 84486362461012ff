import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { TIMED_OUT, within } from '../time/deadline.js';
import { TimeBudget } from './time-budget.js';

type RedisSettings = Pick<Settings, 'REDIS_URL' | 'REDIS_CA_FILE' | 'REDIS_KEY_PREFIX'>;

/** Redis is not there, too slow, or refuses. `reason` is a word for the log: its own code, or that of the connection. */
export class RedisFailure extends Error {
  constructor(
    readonly reason: string,
    /** It was there and said no. */
    readonly refused = false,
  ) {
    super(`Redis cannot be used: ${reason}`);
  }
}

/** What cannot be done: anything, or storing what is large. */
type Work = 'commands' | 'store';

/** The reason while there is no better one. */
const NOT_CONNECTED = 'not-connected';
const CONNECT_WITHIN_MS = 1000;
const RECONNECT_AT_MOST_MS = 1000;
/** A connection that is of no use for so long is made again: the client's own timeout counts silence only, not an answer without end. */
const ANEW_AFTER_MS = 3000;
const LOOK_EVERY_MS = 500;
/** One connection for what is small and urgent, one for snapshots, which would hold it up, one for announcements. */
const NAMES = ['commands', 'bulk', 'announcements'] as const;

type Name = (typeof NAMES)[number];
type Client = ReturnType<typeof createRedisClient>;

/**
 * The connections to Redis, and whether they are of use now: the first failure of a series is logged as `sharing.unavailable`,
 * its end as `sharing.recovered`. Nothing is queued while it is away, and every command has a deadline here, because that of the
 * client covers only what it has not sent yet.
 */
export class RedisLink extends EventEmitter<{ announcement: [text: string]; down: []; up: []; ready: [] }> {
  /** On which announcements are made. */
  readonly channel: string;
  readonly #settings: RedisSettings;
  readonly #clients: Record<Name, Client>;
  /** Since when a connection has been of no use, ms. */
  readonly #idleSince = new Map<Client, number>();
  #looking: NodeJS.Timeout | null = null;
  readonly #logger: Logger;
  readonly #troubles = new Map<Work, RedisFailure>();
  /** Commands that were given up, and may still be answered: nothing is sent behind one. */
  readonly #late = new Map<Client, Promise<unknown>>();
  #subscribed = false;
  #closed = false;

  constructor(settings: RedisSettings, logger: Logger) {
    super();
    this.setMaxListeners(0);
    this.#logger = logger;
    this.channel = `${settings.REDIS_KEY_PREFIX}announcements`;
    this.#settings = settings;
    this.#clients = { commands: this.#create(), bulk: this.#create(), announcements: this.#create() };
  }

  #create(): Client {
    const client = createRedisClient(this.#settings);
    const isInUse = () => !this.#closed && Object.values(this.#clients).includes(client);
    client.on('error', (error: unknown) => isInUse() && this.failed('commands', toFailure(error)));
    client.on('ready', () => {
      // ended while it was connecting, the client goes on with that
      if (!isInUse()) client.destroy();
      else if (this.#connected) this.emit('ready');
    });
    return client;
  }

  /** Sharing works. */
  get up(): boolean {
    return this.#troubles.size === 0 && this.#connected;
  }

  /** Commands are answered, though large things may not be stored. */
  get reachable(): boolean {
    return !this.#troubles.has('commands') && this.#connected;
  }

  get #connected(): boolean {
    return Object.values(this.#clients).every((client) => client.isReady);
  }

  /** Why it cannot be used now, or null. */
  get trouble(): RedisFailure | null {
    return this.#troubles.get('commands') ?? this.#troubles.get('store') ?? null;
  }

  /** Begins to connect, and goes on until `close`. Resolves when it is connected, or after `timeoutMs`. */
  async connect(timeoutMs: number): Promise<void> {
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    const connected = Promise.all(NAMES.map((name) => this.#clients[name].connect())).then(() => this.subscribe());
    connected.catch((error: unknown) => this.failed('commands', toFailure(error)));
    const result = await within(
      connected.catch(() => undefined),
      timeoutMs,
    );
    if (result === TIMED_OUT && this.trouble === null) this.failed('commands', new RedisFailure('timeout'));
  }

  /** Makes those connections again that have been of no use for long. */
  #look(): void {
    const now = performance.now();
    for (const name of NAMES) {
      const client = this.#clients[name];
      const since = this.#idleSince.get(client) ?? now;
      if (client.isReady && !this.#late.has(client)) this.#idleSince.delete(client);
      else this.#idleSince.set(client, since);
      if (now - since >= ANEW_AFTER_MS) this.#renew(name);
    }
  }

  #renew(name: Name): void {
    const old = this.#clients[name];
    const client = this.#create();
    this.#clients[name] = client;
    if (name === 'announcements') this.#subscribed = false;
    this.#idleSince.delete(old);
    this.#late.delete(old);
    old.destroy();
    client.connect().catch(() => undefined);
  }

  /** Listens for announcements, unless it does already; the client takes it up again by itself. @throws RedisFailure */
  async subscribe(): Promise<void> {
    if (this.#subscribed) return;
    if (!this.#connected) throw new RedisFailure(NOT_CONNECTED);
    const { announcements } = this.#clients;
    if (this.#late.has(announcements)) throw new RedisFailure('timeout');
    const subscribed = announcements
      .subscribe(this.channel, (text) => this.emit('announcement', text))
      .then(() => {
        this.#subscribed = announcements === this.#clients.announcements;
      });
    try {
      if ((await within(subscribed, CONNECT_WITHIN_MS)) !== TIMED_OUT) return;
    } catch (error) {
      throw toFailure(error);
    }
    this.#giveUp(announcements, subscribed);
    throw new RedisFailure('timeout');
  }

  /**
   * One command; its strings come as buffers. `on` says which connection.
   * @throws RedisFailure when the budget is at its end (ms, or one that is shared with other commands)
   */
  async send(
    args: readonly (string | Buffer)[],
    budget: TimeBudget | number,
    on: Exclude<Name, 'announcements'> = 'commands',
  ) {
    const client = this.#clients[on];
    if (!client.isReady) throw new RedisFailure(NOT_CONNECTED);
    // the connection stays silent, and is ended for that by the client
    if (this.#late.has(client)) throw new RedisFailure('timeout');
    const reply = client.sendCommand([...args], { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } });
    // it may come after the deadline
    reply.catch(() => undefined);
    try {
      const found = await (typeof budget === 'number' ? new TimeBudget(budget) : budget).within(reply);
      if (found !== TIMED_OUT) return found as unknown;
    } catch (error) {
      throw toFailure(error);
    }
    this.#giveUp(client, reply);
    throw new RedisFailure('timeout');
  }

  #giveUp(client: Client, reply: Promise<unknown>): void {
    const settled = reply
      .catch(() => undefined)
      .then(() => {
        if (this.#late.get(client) === settled) this.#late.delete(client);
      });
    this.#late.set(client, settled);
  }

  /** A script of scripts.ts. @throws RedisFailure */
  script(
    text: string,
    keys: readonly string[],
    args: readonly (string | Buffer | number)[],
    budget: TimeBudget | number,
  ) {
    const rest = args.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
    return this.send(['EVAL', text, String(keys.length), ...keys, ...rest], budget);
  }

  failed(work: Work, failure: RedisFailure): void {
    if (this.#closed) return;
    const first = this.#troubles.size === 0;
    // why it is not connected is known already
    if (failure.reason !== NOT_CONNECTED || !this.#troubles.has(work)) this.#troubles.set(work, failure);
    if (!first) return;
    const { reason } = failure;
    this.#logger.warn(
      { event: 'sharing.unavailable', what: 'redis', reason },
      `Redis cannot be used (${reason}): this instance goes on alone`,
    );
    this.emit('down');
  }

  well(work: Work): void {
    const earlier = this.#troubles.get(work);
    if (!this.#troubles.delete(work)) return;
    // what refused both for one reason takes both again
    if (work === 'commands' && earlier?.refused && this.#troubles.get('store')?.reason === earlier.reason)
      this.#troubles.delete('store');
    if (this.#troubles.size > 0) return;
    this.#logger.info({ event: 'sharing.recovered', what: 'redis' }, 'Redis can be used again');
    this.emit('up');
  }

  close(): void {
    this.#closed = true;
    if (this.#looking) clearInterval(this.#looking);
    for (const client of Object.values(this.#clients)) client.destroy();
    this.emit('down');
  }
}

function createRedisClient({ REDIS_URL: url, REDIS_CA_FILE: caFile }: RedisSettings) {
  const { hostname, port, protocol, pathname } = new URL((url?.read() ?? '').trim());
  const address = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 6379 : Number(port),
    connectTimeout: CONNECT_WITHIN_MS,
    // callers do not wait for it; a process that was held up for a while must not lose its connections
    socketTimeout: 3000,
    // without one, a socket timeout would be the end of the client
    reconnectStrategy: (retries: number) => Math.min(RECONNECT_AT_MOST_MS, 50 * 2 ** Math.min(retries, 10)),
  };
  const tls = { tls: true as const, ...(caFile !== undefined && { ca: readFileSync(caFile) }) };
  return createClient({
    socket: protocol === 'rediss:' ? { ...address, ...tls } : address,
    // read again for each connection: a password in a file may be changed while running
    credentialsProvider: {
      type: 'async-credentials-provider',
      credentials: async () => {
        const { username, password } = new URL((url?.read() ?? '').trim());
        return {
          ...(username && { username: decodeURIComponent(username) }),
          password: decodeURIComponent(password),
        };
      },
    },
    database: Number(pathname.slice(1) || 0),
    disableOfflineQueue: true,
    pingInterval: 300,
    // what it would tell of itself, an ACL may refuse
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}

/** Nothing of the library's error but its code: its message may hold an address. */
function toFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const { code, message, constructor } = error as NodeJS.ErrnoException;
  if (error instanceof ErrorReply) return new RedisFailure(/^[A-Z]{2,20}\b/.exec(message ?? '')?.[0] ?? 'ERR', true);
  return new RedisFailure(typeof code === 'string' ? code : (constructor?.name ?? 'unknown'));
}
