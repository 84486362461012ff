import { createAccount } from '../../src/sandbox/accounts/create-account.js';
import type { ControlPatch } from '../../src/sandbox/control/control-patch.js';
import { RecentHistory } from '../../src/operations/metrics/recent-history.js';
import { startGateway, type BankAddress, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import {
  issueToken,
  json,
  listAccounts,
  startPretendBank,
  type Handler,
  type PretendBankOptions,
} from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;
/** The time between two points of the last hour (docs/logs.md#the-last-hour). */
const POINT_MS = 10_000;
const FAILING: ControlPatch = { failNext: [{ endpoint: 'accounts', times: 1_000_000, with: '503' }] };
const HANGING: ControlPatch = { failNext: [{ endpoint: 'accounts', times: 1_000_000, with: 'hang' }] };
/** The bank is slow for as long as anybody is watching. */
const PATIENT = {
  BANK_REQUEST_TIMEOUT_MS: '600000',
  SNAPSHOT_READ_TIMEOUT_MS: '3600000',
  SNAPSHOT_SOFT_TIMEOUT_MS: '100',
};

type Level = 'ok' | 'warn' | 'bad' | 'unknown';

/** A state of the page: its setup, and the expected page. */
export interface PageState {
  /** Starts a gateway in this state, after calls for this many ms. */
  readonly arrange: (pastMs?: number) => Promise<Gateway>;
  readonly sentence: RegExp | string;
  /** The owner; undefined if nothing is wrong. */
  readonly owner?: 'bank' | 'network' | 'operator';
  /** The levels of certificate, network, token service, account list, snapshot and apps. */
  readonly path: readonly Level[];
}

/** A time on another day follows its date: shortly before midnight, a copy expires tomorrow. */
const TIME = String.raw`(?:\d+ \w+, )?\d\d:\d\d:\d\d`;
export const COPY = new RegExp(`^Apps get the copy of ${TIME}\\. At ${TIME} every call fails\\.$`);
const WELL = {
  sentence: new RegExp(`^\\d+ apps? gets? current data, read at ${TIME}\\.$`),
  path: Array<Level>(6).fill('ok'),
};

const IDLE = {
  sentence: 'No app has called for 12 min.',
  // /health has renewed the token
  path: ['ok', 'ok', 'ok', 'unknown', 'unknown', 'unknown'] satisfies Level[],
};

/**
 * A state for each kind of card. The sentences of all others are tested beside the page's code (`status/incident.ts` and
 * `status/idle.ts`), an unreachable gateway in page-in-a-real-browser.
 */
export const PAGE_STATES = {
  'the bank fails': {
    arrange: (pastMs) => broken(FAILING, 'bank-error', { pastMs }),
    sentence: COPY,
    owner: 'bank',
    path: ['ok', 'ok', 'ok', 'warn', 'warn', 'warn'],
  },
  'the copy has expired': {
    arrange: () => broken(FAILING, '"status":"error"', { env: { SNAPSHOT_MAX_AGE_MS: '2000' } }),
    sentence: new RegExp(`^All calls have failed with 503 since ${TIME}\\.$`),
    owner: 'bank',
    path: ['ok', 'ok', 'ok', 'bad', 'bad', 'bad'],
  },
  'the bank is slow': {
    arrange: () => broken(HANGING, 'bank-slow', { env: PATIENT }),
    sentence: /^The bank is slow\. 1 app gets copies up to \d+ s old, marked stale\.$/,
    owner: 'bank',
    path: ['ok', 'ok', 'ok', 'warn', 'warn', 'warn'],
  },
  'the certificate ends in 3 days': {
    arrange: async () => {
      const [notBefore, notAfter] = [new Date(Date.now() - 340 * DAY_MS), new Date(Date.now() + 3.5 * DAY_MS)];
      return read(await bankWith(someAccounts(), { clientValidity: { notBefore, notAfter } }));
    },
    sentence: /^Apps get current data until \d+ \w+ \d{4}, \d\d:\d\d UTC\.$/,
    owner: 'operator',
    path: ['warn', 'ok', 'ok', 'ok', 'ok', 'ok'],
  },
  'the empty list is a copy': {
    arrange: () => broken(FAILING, 'bank-error', { accounts: 0 }),
    sentence: new RegExp(`^Apps get an empty list, the copy of ${TIME}\\. At ${TIME} every call fails\\.$`),
    owner: 'bank',
    path: ['ok', 'ok', 'ok', 'warn', 'warn', 'bad'],
  },
  'the first refresh has not ended': {
    arrange: async () => {
      const bank = await start();
      bank.control.patch(HANGING);
      const gateway = await startGateway(bank, { ...ENV, ...PATIENT });
      await until(async () => (await gateway.get('/health')).text.includes('bank-slow'));
      return gateway;
    },
    sentence: 'Calls wait for the bank: no list of accounts is cached.',
    owner: 'bank',
    path: ['ok', 'ok', 'ok', 'warn', 'unknown', 'warn'],
  },
  'all is well in the sandbox': {
    arrange: async (pastMs = 0) => {
      const bank = await start();
      const clock = new MovedClock();
      clock.advance(-pastMs);
      const gateway = await startGateway(bank, {}, clock, bank.control);
      await gateway.get('/api/v1/accounts');
      await callFor(pastMs, gateway, clock);
      return gateway;
    },
    ...WELL,
  },
  'names are hostile and amounts long': { arrange: hostile, ...WELL },
  'an app gets only rejections': {
    arrange: async () => {
      const gateway = await idle();
      await gateway.get('/api/v1/accounts?colour=red', { 'x-client-name': 'broken-app' });
      return gateway;
    },
    sentence: new RegExp(`^1 app gets only rejections: broken-app\\. No other app has called since ${TIME}\\.$`),
    path: ['ok', 'ok', 'ok', 'unknown', 'unknown', 'warn'],
  },
  'no app has called for a while': { arrange: () => idle(), ...IDLE },
  'no app has called for a while, and the bank fails meanwhile': {
    arrange: () => idle(503),
    ...IDLE,
  },
} satisfies Record<string, PageState>;

/** The text sent by the hostile bank. */
export const HOSTILE = {
  name: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  owner: '\u202eevil\u202c {{7*7}}',
  current: '1234567890123456789012345.66',
};

/** The time between the refresh and the failure, after which the snapshot is no longer fresh, and in one state has expired. */
const LATER_MS = 3000;
const IDLE_MS = 12.5 * 60_000;
const ENV = {
  ENVIRONMENT: 'production',
  BANK_SUPPORT: 'Service desk: +45 70 10 00 00',
  EGRESS_PUBLIC_ADDRESS: '203.0.113.7',
};
/** Callers, and the number of points from one call to the next. */
const APPS = [
  ['treasury', 2],
  ['erp-sync', 6],
  ['customer-portal', 1],
  ['', 3],
] as const;

/** A gateway that read the accounts once, or for some time, a while ago. */
async function read(bank: BankAddress, env: Record<string, string> = {}, pastMs = 0, beforeMs = 0): Promise<Gateway> {
  const clock = new MovedClock();
  clock.advance(-beforeMs - pastMs);
  const gateway = await startGateway(bank, { ...ENV, ...env }, clock);
  await gateway.get('/api/v1/accounts');
  await callFor(pastMs, gateway, clock);
  clock.advance(beforeMs);
  return gateway;
}

/** Calls by the apps, for this long before now. */
async function callFor(ms: number, gateway: Gateway, clock: MovedClock): Promise<void> {
  const history = gateway.app.get(RecentHistory);
  for (let point = 0; point < ms / POINT_MS; point += 1) {
    clock.advance(POINT_MS);
    for (const [name, every] of APPS) {
      if (point % every === 0) await gateway.get('/api/v1/accounts?pageSize=10', name ? { 'x-client-name': name } : {});
    }
    history.endPoint();
  }
}

interface Before {
  readonly env?: Record<string, string>;
  readonly pastMs?: number | undefined;
  readonly accounts?: number;
}

/** A gateway that has a copy, and a bank that now fails. */
async function broken(patch: ControlPatch, sign: string, before: Before = {}): Promise<Gateway> {
  const { env = {}, pastMs = 0, accounts = 120 } = before;
  const bank = await start({ SANDBOX_ACCOUNTS: accounts });
  const gateway = await read(bank, { SNAPSHOT_FRESH_MS: '1000', ...env }, pastMs, LATER_MS);
  bank.control.patch(patch);
  await untilHealth(gateway, sign);
  for (const [name] of pastMs > 0 ? APPS : [])
    await gateway.get('/api/v1/accounts', name ? { 'x-client-name': name } : {});
  return gateway;
}

/** Calls until /health contains this text, and once more. */
async function untilHealth(gateway: Gateway, sign: string): Promise<Gateway> {
  await until(async () => {
    await gateway.get('/api/v1/accounts');
    return (await gateway.get('/health')).text.includes(sign);
  });
  await gateway.get('/api/v1/accounts');
  return gateway;
}

/** A gateway that nobody has called for so long that its copy and its token have expired. */
async function idle(status = 200): Promise<Gateway> {
  const bank = await bankWith([]);
  // it has the gateway's clock
  let behindMs = IDLE_MS;
  const date = () => Date.now() - behindMs;
  bank.onToken = withDate(issueToken(bank), date);
  bank.onAccounts = withDate(listAccounts(someAccounts()), date);
  const gateway = await read(bank, {}, 60_000, IDLE_MS);
  behindMs = 0;
  if (status !== 200) bank.onAccounts = (_request, response) => json(response, status, '');
  await until(async () => (await gateway.get('/health')).json.details.token.state === 'usable');
  return gateway;
}

async function bankWith(accounts: readonly object[], options: PretendBankOptions = {}) {
  const bank = await startPretendBank(options);
  bank.onToken = issueToken(bank);
  bank.onAccounts = listAccounts(accounts);
  return bank;
}

/** The handler of a bank whose clock shows this time, ms. */
const withDate =
  (respond: Handler, now: () => number): Handler =>
  (request, response, url) => {
    response.setHeader('Date', new Date(now()).toUTCString());
    respond(request, response, url);
  };

const someAccounts = () => Array.from({ length: 40 }, (_, index) => createAccount(1, index));

async function hostile(): Promise<Gateway> {
  const balance = { type: 'CurrentBalance', beginOfDayAmount: '1234567890123456789012345.67', intraDayAmount: '-0.01' };
  const bank = await bankWith([
    sampleAccount(1, { friendlyName: HOSTILE.name, ownedByCompanyName: HOSTILE.owner, status: '"><b>x' }),
    sampleAccount(2, {
      friendlyName: 'javascript:alert(1)',
      ibans: [],
      accountIdentifiers: [{ account: 'X'.repeat(63) }],
      balances: [{ ...balance, currency: 'EUR' }],
    }),
    sampleAccount(3, { friendlyName: 'x'.repeat(2000), ownedByCompanyName: 'y'.repeat(2000) }),
  ]);
  return read(bank, { ENVIRONMENT: 'x'.repeat(40), BANK_SUPPORT: '<b>x</b>'.repeat(15) });
}
