import { promisify } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge } from '@prometheus-io/client';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { BankDrift } from '../bank/bank-drift.js';
import { Settings } from '../config/settings.js';
import { COMMIT, VERSION } from '../config/version.js';
import { describeRoutes } from '../egress/route.js';
import { HealthReport } from '../health/health-report.js';
import { Readiness } from '../health/readiness.js';
import { HttpEdge } from '../http/http-edge.js';
import { countLostLines } from '../logging/standard-output.js';
import type { SharedSnapshots } from '../sharing/shared-snapshots.js';
import { SHARED_SNAPSHOTS } from '../sharing/sharing.module.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { Metrics } from './metrics.js';

const HEALTH = ['ok', 'degraded', 'error'];
const CIRCUIT = ['closed', 'open', 'half-open'];

type Value = readonly [labels: Record<string, string>, value: number | null];

/** The metrics that are read at the moment of a scrape (docs/health-and-metrics.md#metrics). */
@Injectable()
export class Gauges {
  constructor(
    private readonly metrics: Metrics,
    private readonly readiness: Readiness,
    private readonly report: HealthReport,
    private readonly snapshots: SnapshotCache,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly edge: HttpEdge,
    private readonly drift: BankDrift,
    private readonly settings: Settings,
    @Inject(SHARED_SNAPSHOTS) private readonly shared: SharedSnapshots | null,
  ) {
    this.#addProcess();
    this.#addSnapshot();
    this.#addBank();
    this.#addCertificates();
    this.#addSharing();
  }

  #addProcess(): void {
    const { settings } = this;
    const build = { version: VERSION, commit: COMMIT ?? 'unknown' };
    this.#gauge('build_info', 'The build that runs.', () => [[build, 1]], ['version', 'commit']);
    const mode = { mode: settings.mode, route: describeRoutes(settings) };
    this.#gauge('mode', 'The bank that is called, and the route to it.', () => [[mode, 1]], ['mode', 'route']);
    this.#gauge('ready', 'Whether a call for accounts would be answered now.', () => Number(this.readiness.ready));
    this.#gauge(
      'status',
      'The status of /health.',
      async () => {
        const { status } = await this.report.read();
        return toStates('status', HEALTH, status);
      },
      ['status'],
    );
    const { server } = this.edge.fastify;
    this.#gauge('connections', 'Open connections of callers.', () => promisify(server.getConnections.bind(server))());
    this.#gauge('pending_requests', 'Requests that wait for the bank.', () => this.snapshots.status().callersWaiting);
    const dropped = new Counter({
      name: 'accounts_gateway_log_lines_dropped_total',
      help: 'Log lines dropped because standard output could not be written.',
      registers: [],
      collect() {
        this.reset();
        this.inc(countLostLines());
      },
    });
    this.metrics.registry.registerMetric(dropped);
  }

  #addSnapshot(): void {
    const cached = (read: (status: ReturnType<SnapshotCache['status']>) => number | boolean | null) => () => {
      const status = this.snapshots.status();
      const value = status.asOf === null ? null : read(status);
      return value === null ? null : Number(value);
    };
    this.#gauge(
      'snapshot_age_seconds',
      'Age of the cached snapshot.',
      cached(({ ageMs }) => Math.max(0, ageMs ?? 0) / 1000),
    );
    this.#gauge(
      'snapshot_accounts',
      'Accounts in the cached snapshot.',
      cached(({ accounts }) => accounts),
    );
    this.#gauge(
      'snapshot_stale',
      'Whether apps get a stale snapshot.',
      cached(({ stale }) => stale),
    );
    this.#gauge(
      'snapshot_complete',
      "Whether the bank's row count agrees with the cached snapshot.",
      cached(({ complete }) => complete),
    );
  }

  #addBank(): void {
    this.#gauge('bank_circuit', 'The state of the back-off.', () => toStates('state', CIRCUIT, this.report.circuit), [
      'state',
    ]);
    this.#gauge('bank_last_success_timestamp_seconds', 'Time of the last successful call to the bank.', () => {
      const { lastSuccessAt } = this.condition.status();
      return lastSuccessAt === null ? null : Date.parse(lastSuccessAt) / 1000;
    });
    this.#gauge('bank_drift_paths', 'Unknown keys and words from the bank.', () => this.drift.found.length);
    this.#gauge('token_expiry_timestamp_seconds', 'Time at which the access token expires.', () =>
      toSeconds(this.identities.current.tokens.status().expiresAt),
    );
  }

  #addCertificates(): void {
    this.#gauge(
      'certificate_expiry_timestamp_seconds',
      'Time at which a certificate expires.',
      () => this.#certificates.map(({ use, ends }) => [{ use }, toSeconds(ends)]),
      ['use'],
    );
    this.#gauge(
      'certificate_refused',
      "Whether a new certificate was refused, or the bank's server certificate is not trusted.",
      () => this.#certificates.map(({ use, refused }) => [{ use }, Number(refused)]),
      ['use'],
    );
  }

  get #certificates() {
    const client = this.identities.status();
    const listener = this.edge.certificate?.status();
    const { serverCertificateEnds: ends } = this.identities.current.egress;
    const untrusted = this.condition.status().errors.some(({ code }) => code === 'bank-untrusted');
    return [
      { use: 'client', ends: Date.parse(client.notAfter), refused: client.refused !== null },
      { use: 'bank', ends, refused: untrusted },
      ...(listener
        ? [{ use: 'listener', ends: Date.parse(listener.notAfter), refused: listener.refused !== null }]
        : []),
    ];
  }

  /** Only with REDIS_URL or SNAPSHOT_FILE. */
  #addSharing(): void {
    const { shared } = this;
    if (!shared) return;
    if (shared.status()) {
      this.#gauge('sharing_up', 'Whether Redis can be used.', () => Number(shared.status()?.state === 'fleet'));
    }
    const snapshots = new Counter({
      name: 'accounts_gateway_shared_snapshots_total',
      help: 'Cached snapshots by their source.',
      labelNames: ['source'],
      registers: [],
      collect() {
        this.reset();
        for (const [source, count] of Object.entries(shared.counts)) this.inc({ source }, count);
      },
    });
    this.metrics.registry.registerMetric(snapshots);
  }

  /** `read` returns null where there is no value: the sample is then absent. */
  #gauge(
    name: string,
    help: string,
    read: () => number | null | Value[] | Promise<number | Value[]>,
    labelNames: string[] = [],
  ): void {
    const gauge = new Gauge<string>({
      name: `accounts_gateway_${name}`,
      help,
      labelNames,
      registers: [],
      async collect() {
        const result = await read();
        const values: readonly Value[] = Array.isArray(result) ? result : [[{}, result]];
        this.reset();
        // without labels the library sets 0
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of values) if (value !== null) this.set(labels, value);
      },
    });
    this.metrics.registry.registerMetric(gauge);
  }
}

/** A state set: one sample per state, 1 for the present one. */
const toStates = (label: string, states: readonly string[], present: string): Value[] =>
  states.map((state) => [{ [label]: state }, Number(state === present)]);

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
