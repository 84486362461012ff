import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from '@prometheus-io/client';
import { BankCondition } from '../../auth/bank-condition.js';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { BankDrift } from '../../bank/bank-drift.js';
import { Settings } from '../../config/settings.js';
import { COMMIT, VERSION } from '../../config/version.js';
import { describeRoutes } from '../../egress/route.js';
import { HealthReport } from '../health/health-report.js';
import { Readiness } from '../health/readiness.js';
import { HttpEdge } from '../../http/http-edge.js';
import { countLostLines } from '../../telemetry/standard-output.js';
import { Sharing } from '../../sharing/sharing.js';
import { SnapshotCache } from '../../snapshot/snapshot-cache.js';
import { Metrics } from './metrics.js';

const HEALTH = ['ok', 'degraded', 'error'];
const CIRCUIT = ['closed', 'open', 'half-open'];

/** The value of a sample; null where there is none, and the sample is then absent. */
type Value = number | boolean | null;
type Labelled = readonly [labels: Record<string, string>, value: Value];
type Read = () => Value | readonly Labelled[] | Promise<Value | readonly Labelled[]>;

/** The metrics that are read at the moment of a scrape (docs/health-and-metrics.md#metrics). */
@Injectable()
export class Gauges {
  constructor(
    private readonly metrics: Metrics,
    readiness: Readiness,
    report: HealthReport,
    snapshots: SnapshotCache,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly edge: HttpEdge,
    drift: BankDrift,
    settings: Settings,
    shared: Sharing,
  ) {
    const { server } = edge.fastify;
    const build = { version: VERSION, commit: COMMIT ?? 'unknown' };
    const mode = { mode: settings.mode, route: describeRoutes(settings) };
    this.#add('build_info', 'The build that runs.', () => [[build, 1]], 'version', 'commit');
    this.#add('mode', 'The bank that is called, and the route to it.', () => [[mode, 1]], 'mode', 'route');
    this.#add('ready', 'Whether a call for accounts would be answered now.', () => readiness.ready);
    const status = async () => toStates('status', HEALTH, (await report.read()).status);
    this.#add('status', 'The status of /health.', status, 'status');
    this.#add('connections', 'Open connections of callers.', promisify(server.getConnections.bind(server)));
    this.#add('pending_requests', 'Requests that wait for the bank.', () => snapshots.status().callersWaiting);

    const stale = () => (snapshots.status().asOf === null ? null : snapshots.status().stale);
    const completeHelp = "Whether the bank's row count agrees with the cached snapshot.";
    this.#add('snapshot_age_seconds', 'Age of the cached snapshot.', () => toSeconds(snapshots.status().ageMs));
    this.#add('snapshot_accounts', 'Accounts in the cached snapshot.', () => snapshots.status().accounts);
    this.#add('snapshot_stale', 'Whether apps get a stale snapshot.', stale);
    this.#add('snapshot_complete', completeHelp, () => snapshots.status().complete);

    const lastSuccess = () => toSeconds(Date.parse(condition.status().lastSuccessAt ?? ''));
    const tokenExpiry = () => toSeconds(identities.current.tokens.status().expiresAt);
    const circuit = () => toStates('state', CIRCUIT, report.circuit);
    this.#add('bank_circuit', 'The state of the back-off.', circuit, 'state');
    this.#add('bank_last_success_timestamp_seconds', 'Time of the last successful call to the bank.', lastSuccess);
    this.#add('bank_drift_paths', 'Unknown keys and words from the bank.', () => drift.found.length);
    this.#add('token_expiry_timestamp_seconds', 'Time at which the access token expires.', tokenExpiry);

    const expiry = () => this.#certificates.map(({ use, ends }): Labelled => [{ use }, toSeconds(ends)]);
    const refusals = () => this.#certificates.map(({ use, refused }): Labelled => [{ use }, refused]);
    const refusedHelp = "Whether a new certificate was refused, or the bank's server certificate is not trusted.";
    this.#add('certificate_expiry_timestamp_seconds', 'Time at which a certificate expires.', expiry, 'use');
    this.#add('certificate_refused', refusedHelp, refusals, 'use');

    const droppedHelp = 'Log lines dropped because standard output could not be written.';
    this.#add('log_lines_dropped_total', droppedHelp, countLostLines);

    // only with REDIS_URL or SNAPSHOT_FILE
    if (!shared.isConfigured) return;
    const sources = () => Object.entries(shared.counts).map(([source, count]): Labelled => [{ source }, count]);
    this.#add('shared_snapshots_total', 'Cached snapshots by their source.', sources, 'source');
    if (shared.status().redis) {
      this.#add('sharing_up', 'Whether Redis can be used.', () => shared.status().redis?.state === 'fleet');
    }
  }

  get #certificates() {
    const client = this.identities.status();
    const listener = this.edge.certificate?.status();
    const untrusted = this.condition.status().errors.some(({ code }) => code === 'bank-untrusted');
    const toUse = (use: string, { notAfter, refused }: { notAfter: string; refused: unknown }) => ({
      use,
      ends: Date.parse(notAfter),
      refused: refused !== null,
    });
    return [
      toUse('client', client),
      { use: 'bank', ends: this.identities.current.egress.serverCertificateEnds, refused: untrusted },
      ...(listener ? [toUse('listener', listener)] : []),
    ];
  }

  /** Registers a gauge, or a counter if the name ends with `_total`. */
  #add(name: string, help: string, read: Read, ...labelNames: string[]): void {
    const Kind: typeof Gauge<string> | typeof Counter<string> = name.endsWith('_total') ? Counter : Gauge;
    const metric = new Kind({
      name: `accounts_gateway_${name}`,
      help,
      labelNames,
      registers: [],
      async collect(this: Gauge<string> | Counter<string>) {
        const result = await read();
        const values = Array.isArray(result) ? (result as Labelled[]) : [[{}, result] as Labelled];
        this.reset();
        // without labels the library sets 0
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of values) if (value !== null) this.inc(labels, Number(value));
      },
    });
    this.metrics.registry.registerMetric(metric);
  }
}

/** A state set: one sample per state, 1 for the present one. */
const toStates = (label: string, states: readonly string[], present: string): Labelled[] =>
  states.map((state) => [{ [label]: state }, state === present]);

/** Seconds of a time in ms; null for a time that is unknown or no number. */
const toSeconds = (ms: number | null): number | null => (Number.isFinite(ms) ? Number(ms) / 1000 : null);
