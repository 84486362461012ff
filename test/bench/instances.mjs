import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const PAGE = 1000;
const BANK = { baseUrl: 'https://bank.example', authUrl: 'https://bank.example' };
const SILENT = { info() {}, warn() {}, error() {}, debug() {} };

/**
 * Instances within this process: the gateway's own keeper, token provider and sharing out of the build at `root`, each
 * instance with connections of its own to a real Redis, before a bank that only counts. So there may be a hundred.
 */
export async function loadInstances(root) {
  const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
  const [parts, tokens, readings, member, link] = await Promise.all([
    Promise.all(
      [
        'clock.js',
        'activity.js',
        'auth/access-token-provider.js',
        'auth/bank-condition.js',
        'bank/page-reader.js',
        'snapshot/account.js',
        'snapshot/snapshot.js',
        'snapshot/snapshot-builder.js',
        'snapshot/snapshot-cache.js',
        'sharing/fleet.js',
      ].map(load),
    ).then((modules) => Object.assign({}, ...modules)),
    load('sharing/shared-tokens.js'),
    load('sharing/shared-readings.js'),
    load('sharing/fleet-member.js'),
    load('sharing/redis-link.js'),
  ]);
  const clock = new parts.SystemClock();
  const sent = countSent(link.RedisLink);

  const toFleet = (url) =>
    parts.Fleet.start({
      redis: { url: { read: () => url }, caFile: null, keyPrefix: 'bench:' },
      bank: BANK,
      ownKey: null,
      clock,
      logger: SILENT,
    });

  return {
    clock,
    Snapshot: parts.Snapshot,
    FleetReadings: readings.FleetReadings,
    READING: readings.READING,
    toFleet,
    /** How many commands all instances have sent so far. */
    sent: () => sent.count,
    createMaterial,
    /** The bytes of a snapshot of so many accounts of the sandbox bank. A `Snapshot` owns its bytes: each needs a copy. */
    toSnapshotBytes: async (bank, count) => {
      await bank.set({ accounts: count, latencyMs: 0 });
      const token = await bank.getToken(3600);
      const builder = new parts.SnapshotBuilder();
      const pages = new parts.PageReader();
      for (let page = 1; (page - 1) * PAGE < count; page++) {
        const body = new TextEncoder().encode(await bank.list(token, `PageNumber=${page}&PageSize=${PAGE}`));
        pages.read(page, body, (account) => builder.add(parts.toAccount(account), page));
      }
      return builder.finish({ asOf: new Date().toISOString(), complete: true });
    },
    /** One instance; without `redisUrl` it is on its own. */
    startInstance: async ({ redisUrl, bank, material: shared, settings }) => {
      const material = { ...shared };
      const fleet = redisUrl ? await toFleet(redisUrl) : null;
      const activity = new parts.Activity();
      const condition = new parts.BankCondition(clock, SILENT);
      const request = fleet ? new tokens.FleetTokens(fleet).share(bank.askToken, material) : () => bank.askToken();
      const provider = new parts.AccessTokenProvider({ request, clock, logger: SILENT, activity, condition });
      const read = async () => bank.read(await provider.get());
      const reader = {
        read: fleet ? new readings.FleetReadings(fleet, settings).share(read, () => material) : read,
      };
      const snapshots = new parts.SnapshotCache({ reader, settings, clock, logger: SILENT, activity, condition });
      if (fleet) {
        const identities = { current: { material, tokens: provider } };
        new member.FleetMember(fleet, snapshots, identities, () => undefined).onModuleInit();
      }
      return {
        get: () => snapshots.get({ noCache: false, maxAge: null, onlyIfCached: false }),
        close: async () => {
          snapshots.onApplicationShutdown();
          await fleet?.close();
        },
      };
    },
    /** A bank that takes `latencyMs` for a token and for a list, and counts both. */
    createBank: ({ latencyMs, tokenLifetimeMs, bytes }) => {
      const bank = {
        tokens: 0,
        readings: 0,
        askToken: async () => {
          bank.tokens += 1;
          const requestedAt = clock.now();
          await delay(latencyMs);
          const renewAfterMs = tokenLifetimeMs * (0.75 + 0.1 * Math.random());
          return { value: randomBytes(24).toString('hex'), requestedAt, lifetimeMs: tokenLifetimeMs, renewAfterMs };
        },
        read: async () => {
          bank.readings += 1;
          const askedAt = clock.now();
          await delay(latencyMs);
          const snapshot = new parts.Snapshot(bytes.slice(0), { askedAt, durationMs: clock.since(askedAt) });
          return { snapshot, pages: 1 };
        },
      };
      return bank;
    },
  };
}

/** What makes instances one fleet. */
function createMaterial() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keyPem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const certificate = { keyPem, thumbprintSha256: randomBytes(32).toString('hex') };
  return { certificate, username: 'bench', password: 'bench', ca: null };
}

function countSent(RedisLink) {
  const counted = { count: 0 };
  const { send } = RedisLink.prototype;
  RedisLink.prototype.send = function (...args) {
    counted.count += 1;
    return send.apply(this, args);
  };
  return counted;
}
