import { toAnswerError } from '../../../src/egress/answer-error.js';
import pLimit from 'p-limit';
import { pino } from 'pino';
import { AccessTokenProvider } from '../../../src/auth/access-token-provider.js';
import { AuthorizedCall } from '../../../src/auth/authorized-call.js';
import type { IdentityHolder } from '../../../src/auth/identity-holder.js';
import { validityError } from '../../../src/auth/client-certificate.js';
import type { IdentityMaterial } from '../../../src/auth/identity-material.js';
import type { AccessToken } from '../../../src/auth/access-token.js';
import { requestToken } from '../../../src/auth/request-token.js';
import { AccountReader } from '../../../src/bank/account-reader.js';
import type { PageFacts } from '../../../src/list/bank-page.js';
import { readSettings } from '../../../src/config/read-settings.js';
import type { WireAnswer, WireRequest } from '../../../src/egress/wire-client.js';
import type { BankDrift } from '../../../src/bank/bank-drift.js';
import { BankCondition } from '../../../src/operations/status/bank-condition.js';
import { GatewayStatus } from '../../../src/operations/status/gateway-status.js';
import { Readiness } from '../../../src/operations/status/readiness.js';
import type { UnderWay } from '../../../src/http/under-way.js';
import { GatewayError } from '../../../src/errors/gateway-error.js';
import { snapshotOf } from '../../support/sample-snapshots.js';
import { CachedSnapshot } from '../../../src/cache/cached-snapshot.js';
import { Refresher } from '../../../src/cache/refresher.js';
import { SnapshotService } from '../../../src/cache/snapshot-service.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest } from '../../../src/snapshot/snapshot-source.js';
import { Activity } from '../../../src/telemetry/activity.js';
import type { Log } from '../../../src/telemetry/log.js';
import { answerOf, filesAt, type Files, type ModelPage } from './bank-model.js';
import { toTime, type Draw, type Plan } from './odd-days.js';
import type { VirtualTime } from './virtual-time.js';

/** All other settings have their defaults. */
const ENVIRONMENT = {
  BANK_BASE_URL: 'https://bank.example',
  BANK_USERNAME: 'simulated',
  BANK_PASSWORD: 'simulated',
  BANK_PFX_BASE64: 'AA==',
};
const { settings } = readSettings(ENVIRONMENT, { sandbox: false });
const logger = pino({ level: 'silent' });

type Identity = ReturnType<SimulatedGateway['toIdentity']>;

/**
 * One instance: the real token provider, authorized call, paging, reader, cache and readiness. The model of the bank
 * replaces connections, a ready snapshot the list thread, and flags the certificate and credential files.
 */
export class SimulatedGateway {
  readonly activity = new Activity();
  readonly snapshots: SnapshotService;
  readonly status: GatewayStatus;
  readonly readiness: Readiness;
  /** True while new files are rejected and the old ones stay in use. */
  rejected = false;
  /** What a bank would complain about: the first must stay 0, the second at most 1. */
  readonly misuse = { expiredTokens: 0, tokenRequestsAtOnce: 0 };
  #tokenRequests = 0;
  readonly #oneTokenRequest = pLimit(1);
  #current: Identity;
  #candidate: Identity | null = null;

  constructor(
    private readonly time: VirtualTime,
    private readonly plan: Plan,
    private readonly draw: Draw,
  ) {
    this.#current = this.toIdentity(filesAt(plan, time.trueMs));
    const current = () => this.#current;
    const identities = {
      get current() {
        return current();
      },
      status: () => ({ unusable: validityError(current().certificate, time.now().wall) }),
    } as unknown as IdentityHolder;
    const call = new AuthorizedCall(identities, settings, time);
    const accounts = new AccountReader(call, settings, { logger } as Log);
    const cached = new CachedSnapshot(time, settings);
    const { activity } = this;
    const source = new SimulatedSource(accounts, time);
    const refresher = new Refresher(cached, source, settings, time, { logger } as Log, activity, identities);
    this.snapshots = new SnapshotService(cached, refresher, time, settings);
    const drift = { found: [] } as unknown as BankDrift;
    this.status = new GatewayStatus(
      time,
      { isStopping: false } as UnderWay,
      null,
      identities,
      new BankCondition(activity, identities, time, { logger } as Log, settings),
      drift,
      this.snapshots,
      source,
    );
    this.readiness = new Readiness(this.status, identities, this.snapshots);
  }

  get certificateEndsInMs(): number {
    return this.#current.certificate.notAfter.getTime() - this.time.now().wall;
  }

  /** Like `IdentityHolder`: proves new files with a token request, then uses them. */
  async prove(): Promise<void> {
    const files = filesAt(this.plan, this.time.trueMs);
    const isOf = (identity: Identity | null) =>
      identity?.files.password === files.password && identity.files.certificate === files.certificate;
    if (isOf(this.#current)) return;
    if (!isOf(this.#candidate)) this.#candidate = this.toIdentity(files);
    const candidate = this.#candidate as Identity;
    if (candidate.tokens.failureNow()) return;
    try {
      await candidate.tokens.get();
    } catch {
      this.rejected = true;
    }
  }

  /** Like `BankIdentity`. */
  private toIdentity(files: Files) {
    const { time: clock, activity } = this;
    const certificate = { notBefore: new Date(0), notAfter: new Date(toTime(files.certificate ? 1000 : 20, 0)) };
    const material = { certificate, username: '', password: '' } as unknown as IdentityMaterial;
    const egress = {
      get: async (request: WireRequest) => {
        const answer = await this.#call(request, files);
        return { ...answer, error: toAnswerError(answer, request.target) };
      },
    };
    const request = (): Promise<AccessToken> =>
      this.#oneTokenRequest(async () => {
        const acquired = await requestToken(egress, material, { settings, clock, logger });
        if (this.#candidate?.tokens === tokens)
          [this.#current, this.#candidate, this.rejected] = [this.#candidate, null, false];
        return acquired;
      });
    const tokens = new AccessTokenProvider({ clock, logger, activity, request });
    return { files, certificate, egress, tokens };
  }

  /** Replaces `Egress.get`. */
  async #call(request: WireRequest, files: Files): Promise<WireAnswer> {
    const { target } = request;
    const answer = answerOf(request, files, this.plan, this.time.trueMs, this.draw);
    const { status, body, retryAfter } = answer;
    if (answer.expired) this.misuse.expiredTokens += 1;
    if (target === 'token') this.#tokenRequests += 1;
    this.misuse.tokenRequestsAtOnce = Math.max(this.misuse.tokenRequestsAtOnce, this.#tokenRequests);
    const ms = Math.min(answer.ms, settings.BANK_REQUEST_TIMEOUT_MS);
    await this.time.wait(ms);
    if (target === 'token') this.#tokenRequests -= 1;
    const late = ms < answer.ms;
    const code = late ? 'bank-timeout' : status === null ? 'bank-unreachable' : null;
    const bank = { serverAddress: 'bank.example', serverPort: 443 };
    this.activity.emit('bankCallEnded', { target, ...bank, status: late ? null : status, ms, code });
    if (late || status === null) throw new GatewayError(code ?? 'bank-unreachable', 'simulated');
    const text = body ? JSON.stringify(body) : status === 400 ? '<html>The SSL certificate error' : '';
    return {
      status,
      headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
      body: Buffer.from(text),
    };
  }
}

/** Replaces `BankSource`: counts the accounts on the pages of the model, without a thread. */
class SimulatedSource extends SnapshotSource {
  constructor(
    private readonly accounts: AccountReader,
    private readonly time: VirtualTime,
  ) {
    super();
  }

  override async read({ refreshId, signal }: RefreshRequest): Promise<ReadSnapshot> {
    const askedAt = this.time.now();
    const timeout = AbortSignal.timeout(settings.SNAPSHOT_READ_TIMEOUT_MS);
    const {
      accounts: size,
      complete,
      pages,
    } = await this.accounts.read(refreshId, AbortSignal.any([signal, timeout]), parsePage);
    const snapshot = { ...snapshotOf([], complete, askedAt, this.time.since(askedAt)), size };
    return { snapshot, pages, source: 'bank' };
  }
}

async function parsePage(_number: number, body: Buffer): Promise<PageFacts> {
  const { rows, rowCount, pageSize } = JSON.parse(body.toString()) as ModelPage;
  return { accounts: rows, added: rows, rowCount, echoedSize: pageSize };
}
