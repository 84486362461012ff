import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { BankDrift } from '../bank/bank-drift.js';
import { Settings } from '../config/settings.js';
import { describeRoutes } from '../egress/route.js';
import { HealthReport } from '../health/health-report.js';
import { Readiness } from '../health/readiness.js';
import { HttpEdge } from '../http/http-edge.js';
import { countLostLines } from '../logging/standard-output.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { COMMIT, VERSION } from '../config/version.js';
import { SharingCondition } from '../sharing/sharing.js';
import { Metrics } from './metrics.js';
import { addSharingFigures } from './sharing-figures.js';
import { ScrapedFigures } from './scraped-figures.js';

const HEALTH = ['ok', 'degraded', 'error'] as const;
const CIRCUIT = ['closed', 'open', 'half-open'] as const;

/** Adds what the rooms say of themselves to the figures (docs/monitoring.md#metrics). */
@Injectable()
export class Gauges {
  constructor(
    private readonly readiness: Readiness,
    private readonly report: HealthReport,
    private readonly snapshots: SnapshotCache,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly edge: HttpEdge,
    private readonly drift: BankDrift,
    private readonly settings: Settings,
    sharing: SharingCondition,
    metrics: Metrics,
  ) {
    const figures = new ScrapedFigures(metrics.registry);
    this.#addHealth(figures);
    this.#addSnapshot(figures);
    this.#addBank(figures);
    this.#addCertificates(figures);
    this.#addCallers(figures);
    const store = sharing.status() !== null;
    if (store || settings.SNAPSHOT_FILE !== undefined) addSharingFigures(figures, () => sharing.figures, store);
    const lost = 'Log lines that were lost, since they could not be written or nobody read them.';
    figures.counter('log_lines_dropped', lost, [], () => [[{}, countLostLines()]]);
  }

  #addHealth(figures: ScrapedFigures): void {
    const info = {
      version: VERSION,
      commit: COMMIT ?? 'unknown',
      mode: this.settings.mode,
      route: describeRoutes(this.settings),
    };
    figures.labelledGauge('info', 'What runs, as labels.', Object.keys(info), () => [[info, 1]]);
    figures.gauge('ready', 'Whether a call for accounts would be answered now.', () => Number(this.readiness.ready));
    figures.stateSet('status', 'The status of /health.', 'status', HEALTH, async () => {
      const { status } = await this.report.read();
      return status;
    });
  }

  #addSnapshot(figures: ScrapedFigures): void {
    const { snapshots } = this;
    const held = <T>(read: (status: ReturnType<SnapshotCache['status']>) => T) => {
      const status = snapshots.status();
      return status.asOf === null ? null : read(status);
    };
    figures.gauge('snapshot_age_seconds', 'How long ago the bank was asked for what is held.', () =>
      held(({ ageMs }) => Math.max(0, ageMs ?? 0) / 1000),
    );
    figures.gauge('snapshot_accounts', 'Accounts in what is held.', () => held(({ accounts }) => accounts));
    figures.gauge('snapshot_stale', 'Whether callers get older answers than they should.', () =>
      held(({ stale }) => Number(stale)),
    );
    figures.gauge('snapshot_complete', "Whether the bank's own count agrees with what is held.", () =>
      held(({ complete }) => (complete === null ? null : Number(complete))),
    );
  }

  #addBank(figures: ScrapedFigures): void {
    figures.stateSet('bank_circuit', 'Whether the bank is asked.', 'state', CIRCUIT, () => this.report.circuit);
    figures.gauge('bank_last_success_timestamp_seconds', 'When the bank last answered as it should.', () => {
      const { lastSuccessAt } = this.condition.status();
      return lastSuccessAt === null ? null : Date.parse(lastSuccessAt) / 1000;
    });
    figures.gauge(
      'bank_drift_paths',
      'Paths of what the bank sends that are not known.',
      () => this.drift.found.length,
    );
    figures.gauge('token_expiry_timestamp_seconds', 'When the access token ends.', () =>
      toSeconds(this.identities.current.tokens.status().expiresAt),
    );
  }

  #addCertificates(figures: ScrapedFigures): void {
    figures.labelledGauge(
      'certificate_expiry_timestamp_seconds',
      "When a certificate ends: the client's, the bank's as it was last seen, that of this API.",
      ['use'],
      () => this.#certificates.map(({ use, ends }) => [{ use }, toSeconds(ends)] as const),
    );
    figures.labelledGauge(
      'certificate_refused',
      "Whether a newer certificate is not taken, or that of the bank's server is not trusted.",
      ['use'],
      () => this.#certificates.map(({ use, refused }) => [{ use }, Number(refused)] as const),
    );
  }

  get #certificates() {
    const client = this.identities.status();
    const listener = this.edge.certificate?.status();
    const { token, refresh } = this.condition.status().failures;
    const { serverCertificateEnds: ends } = this.identities.current.egress.status();
    const untrusted = [token, refresh].some((failure) => failure?.error.code === 'bank-untrusted');
    return [
      { use: 'client', ends: Date.parse(client.notAfter), refused: client.refused !== null },
      { use: 'bank', ends, refused: untrusted },
      ...(listener
        ? [{ use: 'listener', ends: Date.parse(listener.notAfter), refused: listener.refused !== null }]
        : []),
    ];
  }

  #addCallers(figures: ScrapedFigures): void {
    const { server } = this.edge.fastify;
    figures.gauge('connections', 'Open connections of callers.', () => promisify(server.getConnections.bind(server))());
    figures.gauge('callers_waiting', 'Callers that wait for the bank.', () => this.snapshots.status().callersWaiting);
  }
}

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
