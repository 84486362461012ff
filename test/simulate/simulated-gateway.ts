import pLimit from 'p-limit';
import { pino } from 'pino';
import { AccessTokenProvider } from '../../src/auth/access-token-provider.js';
import { AuthorizedCall } from '../../src/auth/authorized-call.js';
import { BankCondition } from '../../src/auth/bank-condition.js';
import { validityError } from '../../src/auth/certificate-validity.js';
import type { IdentityHolder } from '../../src/auth/identity-holder.js';
import type { IdentityMaterial } from '../../src/auth/identity-material.js';
import { requestToken } from '../../src/auth/request-token.js';
import { AccountReader } from '../../src/bank/account-reader.js';
import type { ListPage } from '../../src/bank/account-reader.js';
import type { PageFacts } from '../../src/bank/page-reader.js';
import { PageSource } from '../../src/bank/page-source.js';
import { readSettings } from '../../src/config/read-settings.js';
import type { WireRequest } from '../../src/egress/wire-client.js';
import { Readiness } from '../../src/health/readiness.js';
import type { HttpEdge } from '../../src/http/http-edge.js';
import { account, snapshotOf } from '../../src/snapshot/sample-account.test-support.js';
import { SnapshotCache } from '../../src/snapshot/snapshot-cache.js';
import { SnapshotReader } from '../../src/snapshot/snapshot-reader.js';
import { Activity } from '../../src/telemetry/activity.js';
import type { BankModel, Files, ModelPage } from './bank-model.js';
import { toTime } from './odd-days.js';
import type { VirtualTime } from './virtual-time.js';

/** Everything else is the default. */
const ENVIRONMENT = {
  BANK_BASE_URL: 'https://bank.example',
  BANK_USERNAME: 'simulated',
  BANK_PASSWORD: 'simulated',
  BANK_PFX_BASE64: 'AA==',
};
const { settings } = readSettings(ENVIRONMENT, { sandbox: false });

type Identity = ReturnType<SimulatedGateway['toIdentity']>;

/**
 * One instance: the real token provider, authorized call, paging, reader, cache and readiness, with the bank's model in place of
 * connections, ready snapshots in place of the worker, and numbers in place of certificate and credential files.
 */
export class SimulatedGateway {
  readonly activity = new Activity();
  readonly snapshots: SnapshotCache;
  readonly readiness: Readiness;
  /** New files were refused and are not in use. */
  refused = false;
  readonly #logger = pino({ level: 'silent' });
  readonly #condition: BankCondition;
  readonly #oneTokenRequest = pLimit(1);
  /** Buffers of snapshots by their number of accounts. */
  readonly #buffers = new Map<number, ArrayBuffer>();
  #current: Identity;
  #candidate: Identity | null = null;

  constructor(
    private readonly time: VirtualTime,
    private readonly bank: BankModel,
  ) {
    const { activity } = this;
    this.#condition = new BankCondition(time, { logger: this.#logger });
    this.#current = this.toIdentity({ password: 0, certificate: 0 });
    this.#current.tokens.takeOver(this.#condition);
    const current = () => this.#current;
    const identities = {
      get current() {
        return current();
      },
      status: () => ({ unusable: validityError(current().certificate, time.now().wall) }),
    } as unknown as IdentityHolder;
    const source = new PageSource(new AuthorizedCall(identities, settings, time), time);
    const accounts = new AccountReader(source, { note: () => undefined }, settings);
    const bankReader = new SnapshotReader(accounts, time, () => this.#toBuilder());
    const reader = { read: (refreshId: string, signal: AbortSignal) => bankReader.read(refreshId, signal) };
    const parts = { clock: time, logger: this.#logger, activity, condition: this.#condition, settings };
    this.snapshots = new SnapshotCache({ reader, ...parts });
    this.readiness = new Readiness(identities, this.snapshots, { stopping: false } as HttpEdge);
  }

  get certificateEndsInMs(): number {
    return this.#current.certificate.notAfter.getTime() - this.time.now().wall;
  }

  /** The operator puts new files in place. */
  change(files: Partial<Files>): void {
    this.#candidate = this.toIdentity({ ...this.#current.files, ...files });
  }

  /** As `IdentityHolder` does: new files are proved by a token request, and taken over then. */
  async prove(): Promise<void> {
    const candidate = this.#candidate;
    if (!candidate || candidate.tokens.waiting) return;
    try {
      await candidate.tokens.get();
    } catch {
      this.refused = true;
      return;
    }
    if (candidate !== this.#candidate) return;
    [this.#current, this.#candidate, this.refused] = [candidate, null, false];
    candidate.tokens.takeOver(this.#condition);
    this.#condition.identityReplaced();
    this.#condition.succeeded('token');
  }

  /** As `BankIdentity`. */
  private toIdentity(files: Files) {
    const { time: clock, activity } = this;
    const logger = this.#logger;
    const certificate = { notBefore: new Date(0), notAfter: new Date(toTime(files.certificate === 0 ? 20 : 1000, 0)) };
    const material = { certificate, username: '', password: '' } as unknown as IdentityMaterial;
    const egress = {
      get: (request: WireRequest) => this.bank.get(request, files, settings.BANK_REQUEST_TIMEOUT_MS),
    };
    const token = { egress, authUrl: settings.BANK_AUTH_URL, material, clock, logger };
    const request = () => this.#oneTokenRequest(() => requestToken(token));
    return { files, certificate, egress, tokens: new AccessTokenProvider({ clock, logger, activity, request }) };
  }

  /** In place of the worker: counts the rows of the model's pages. */
  #toBuilder() {
    let size = 0;
    return {
      takePage: async ({ number, pieces }: ListPage): Promise<PageFacts> => {
        const { rows, rowCount, pageSize } = JSON.parse(Buffer.concat(pieces).toString()) as ModelPage;
        size = number === 1 ? rows : size + rows;
        return { accounts: rows, added: rows, rowCount, echoedSize: pageSize, repeatsLast: false, drift: [] };
      },
      finish: async () => this.#bufferOf(size),
      end: async () => undefined,
    };
  }

  #bufferOf(size: number): ArrayBuffer {
    const known = this.#buffers.get(size);
    if (known) return known;
    const { buffer } = snapshotOf(Array.from({ length: size }, (_, index) => account({ id: `${index}` })));
    this.#buffers.set(size, buffer);
    return buffer;
  }
}
