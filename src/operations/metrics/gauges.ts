import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { Settings } from '../../config/settings.js';
import { COMMIT, VERSION } from '../../config/version.js';
import { describeRoutes } from '../../egress/route.js';
import { countLostLines } from '../../telemetry/standard-output.js';
import { toFailureSeries } from '../health/failure-series.js';
import { GatewayStatus, type GatewayFacts } from '../health/gateway-status.js';
import { isReady, judgeHealth } from '../health/judge-health.js';

const HEALTH = ['ok', 'degraded', 'error'];
const CIRCUIT = ['closed', 'open', 'half-open'];

/** The value of a sample; null where there is none, and the sample is then absent. */
type Value = number | boolean | null;
type Labelled = readonly [labels: Record<string, string>, value: Value];
type Read = (facts: GatewayFacts) => Value | readonly Labelled[] | Promise<number>;

/** The metrics that show the state at the moment of a scrape (docs/logs.md#metrics). */
@Injectable()
export class Gauges {
  readonly registry = new Registry();

  constructor(
    private readonly status: GatewayStatus,
    adapterHost: HttpAdapterHost,
    settings: Settings,
  ) {
    const server = adapterHost.httpAdapter.getHttpServer() as Server;
    const countConnections = promisify(server.getConnections.bind(server));
    const build = { version: VERSION, commit: COMMIT ?? 'unknown' };
    const mode = { mode: settings.mode, route: describeRoutes(settings) };
    this.#add('build_info', 'The build that runs.', () => [[build, 1]], 'version', 'commit');
    this.#add('mode', 'The bank that is called, and the route to it.', () => [[mode, 1]], 'mode', 'route');
    this.#add('ready', 'Whether a call for accounts would be answered now.', isReady);
    const health: Read = (facts) => toStates('status', HEALTH, judgeHealth(facts).status);
    this.#add('status', 'The status of /health.', health, 'status');
    this.#add('connections', 'Open connections of callers.', () => countConnections());
    this.#add('pending_requests', 'Requests that wait for the bank.', ({ snapshot }) => snapshot.callersWaiting);
    this.#addSnapshot();
    this.#addBank();
    this.#addLostLines();
    if (settings.REDIS_URL === undefined) return;
    this.#add('sharing_up', 'Whether Redis can be used.', ({ sharing }) => sharing.redis?.state === 'fleet');
  }

  #addSnapshot(): void {
    const completeHelp = "Whether the bank's row count agrees with the cached snapshot.";
    const expiry: Read = ({ snapshot }) => toSeconds(toTime(snapshot.expiresAt));
    const stale: Read = ({ snapshot }) => (snapshot.asOf === null ? null : snapshot.stale);
    this.#add('snapshot_age_seconds', 'Age of the cached snapshot.', ({ snapshot }) => toSeconds(snapshot.ageMs));
    this.#add('snapshot_expiry_timestamp_seconds', 'Time at which the cached snapshot stops being served.', expiry);
    this.#add('snapshot_accounts', 'Accounts in the cached snapshot.', ({ snapshot }) => snapshot.accounts);
    this.#add('snapshot_stale', 'Whether apps get a stale snapshot.', stale);
    this.#add('snapshot_complete', completeHelp, ({ snapshot }) => snapshot.complete);
  }

  #addBank(): void {
    const circuit: Read = (facts) => toStates('state', CIRCUIT, toFailureSeries(facts).circuit);
    const lastSuccess: Read = ({ bank }) => toSeconds(toTime(bank.lastSuccessAt.accounts));
    this.#add('bank_circuit', 'The state of the back-off.', circuit, 'state');
    this.#add('bank_last_success_timestamp_seconds', 'Time of the last successful refresh from the bank.', lastSuccess);
    this.#add('bank_drift_paths', 'Unknown or missing keys and words of the bank.', ({ bank }) => bank.driftCount);
    this.#add('token_expiry_timestamp_seconds', 'Time at which the access token expires.', ({ token }) =>
      toSeconds(token.expiresAt),
    );
    const ends: Read = (facts) => certificatesOf(facts).map(({ use, ends }) => [{ use }, toSeconds(ends)]);
    const refusals: Read = (facts) => certificatesOf(facts).map(({ use, refused }) => [{ use }, refused]);
    const refusedHelp = "Whether a new certificate was refused, or the bank's server certificate is not trusted.";
    this.#add('certificate_expiry_timestamp_seconds', 'Time at which a certificate expires.', ends, 'use');
    this.#add('certificate_refused', refusedHelp, refusals, 'use');
  }

  /** A counter, which the standard output of the process keeps. */
  #addLostLines(): void {
    const counter = new Counter({
      name: 'accounts_gateway_log_lines_dropped_total',
      help: 'Log lines dropped because standard output could not be written.',
      registers: [],
      collect() {
        this.reset();
        this.inc(countLostLines());
      },
    });
    this.registry.registerMetric(counter);
  }

  #add(name: string, help: string, read: Read, ...labelNames: string[]): void {
    const { status } = this;
    const gauge = new Gauge<string>({
      name: `accounts_gateway_${name}`,
      help,
      labelNames,
      registers: [],
      async collect() {
        const result = await read(status.read());
        this.reset();
        // without labels the library sets 0
        if (labelNames.length === 0) this.remove();
        const samples = Array.isArray(result) ? (result as Labelled[]) : [[{}, result] as Labelled];
        for (const [labels, value] of samples) if (value !== null) this.set(labels, Number(value));
      },
    });
    this.registry.registerMetric(gauge);
  }
}

function certificatesOf({ certificate, bank, listener }: GatewayFacts) {
  const untrusted = bank.errors.some(({ code }) => code === 'bank-untrusted');
  const ours = [{ use: 'client', ...certificate }, ...(listener ? [{ use: 'listener', ...listener }] : [])];
  return [
    { use: 'bank', ends: bank.serverCertificateEnds, refused: untrusted },
    ...ours.map(({ use, notAfter, refused }) => ({ use, ends: Date.parse(notAfter), refused: refused !== null })),
  ];
}

/** A state set: one sample per state, 1 for the present one. */
const toStates = (label: string, states: readonly string[], present: string): Labelled[] =>
  states.map((state) => [{ [label]: state }, state === present]);

const toTime = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));

const toSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1000);
