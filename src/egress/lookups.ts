import dns, { type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify, promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** An answer that took longer than this also serves the attempts of the next minute, ms. */
const LATE_MS = 1000;
const LATE_ANSWER_SERVES_MS = 60_000;
/** An address that failed is tried last for this time, or until it connects. */
const SILENT_FOR_MS = 600_000;
const MAX_SILENT = 500;

/**
 * Resolves names through the system, one lookup at a time for each name. A lookup cannot be ended and holds one of Node's few
 * threads, up to 5 s for each silent name server, so attempts share it, and a late answer serves the next ones.
 * No other answer is cached.
 */
export class Lookups {
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();
  readonly #late = new LRUCache<string, readonly LookupAddress[]>({ max: 100, ttl: LATE_ANSWER_SERVES_MS });
  readonly #silent = new LRUCache<string, true>({ max: MAX_SILENT, ttl: SILENT_FOR_MS });
  readonly #oneOptional = pLimit(1);

  /**
   * The addresses of a name, or the address itself. Those that failed are last.
   * @param family 4 or 6; 0 for both
   * @throws the error of `dns.lookup`
   */
  async find(name: string, family = 0, isOptional = false): Promise<readonly LookupAddress[]> {
    if (isIP(name) !== 0) return [{ address: name, family: isIP(name) }];
    const running = this.#run(name, family, isOptional);
    const late = this.#late.get(`${family} ${name}`);
    // the lookup under way may fail; its answer is for the attempts after this one
    if (late) running.catch(() => undefined);
    const addresses = late ?? (await running);
    return addresses.toSorted((a, b) => Number(this.#silent.has(a.address)) - Number(this.#silent.has(b.address)));
  }

  /**
   * For optional services (Redis, traces). Their names share one thread, so that the bank's lookup never waits for them.
   */
  readonly optional: LookupFunction = (name, options, done) => {
    const find = callbackify(() => this.find(name, Number(options.family) || 0, true));
    find((error, addresses) => (error ? done(error, '') : answerWith(addresses)(name, options, done)));
  };

  /** Follows a connection that is being opened, to learn which addresses fail. */
  follow(socket: Socket): void {
    let last: string | undefined;
    const note = (address = last) => address !== undefined && this.#silent.set(address, true);
    const noteLast = () => note();
    socket.on('connectionAttempt', (address) => (last = address));
    socket.on('connectionAttemptFailed', (address) => note(address));
    socket.on('connectionAttemptTimeout', (address) => note(address));
    socket.once('close', noteLast);
    socket.once('connect', () => {
      socket.off('close', noteLast);
      if (socket.remoteAddress !== undefined) this.#silent.delete(socket.remoteAddress);
    });
  }

  #run(name: string, family: number, isOptional: boolean): Promise<readonly LookupAddress[]> {
    const key = `${family} ${name}`;
    const known = this.#running.get(key);
    if (known) return known;
    const began = performance.now();
    const resolve = promisify(dns.lookup);
    const look = () =>
      resolve(name, { all: true, family }).catch((error: NodeJS.ErrnoException) => {
        // a hosts file has its names without the final dot
        if (error.code !== 'ENOTFOUND' || !name.endsWith('.')) throw error;
        return resolve(name.slice(0, -1), { all: true, family });
      });
    const running = (isOptional ? this.#oneOptional(look) : look())
      .then((addresses) => {
        if (performance.now() - began > LATE_MS) this.#late.set(key, addresses);
        return addresses;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }
}

/** The lookups of this process, which share its threads. */
export const lookups = new Lookups();

/** A `lookup` option that returns known addresses. */
export const answerWith =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_name, { all }, done) => {
    const [first = { address: '', family: 0 }] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
