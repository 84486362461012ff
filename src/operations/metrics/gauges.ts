import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { Settings } from '../../config/settings.js';
import { COMMIT, VERSION } from '../../config/build-output.js';
import { describeRoutes } from '../../egress/route.js';
import { countLostLines } from '../../telemetry/standard-output.js';
import { GatewayStatus, toFailureSeries, type GatewayFacts } from '../status/gateway-status.js';
import { judgeHealth } from '../status/judge-health.js';
import { isReady } from '../status/readiness.js';

/** The value of a sample; a sample with the value null is omitted. */
type Value = number | boolean | null;

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
}

/** Metrics that show the state at the time of a scrape (docs/logs.md#metrics). */
@Injectable()
export class Gauges {
  readonly #countConnections: () => Promise<number>;

  constructor(
    private readonly status: GatewayStatus,
    private readonly settings: Settings,
    adapterHost: HttpAdapterHost,
  ) {
    const server = adapterHost.httpAdapter.getHttpServer() as Server;
    this.#countConnections = promisify(server.getConnections.bind(server));
  }

  async toText(): Promise<string> {
    const facts = this.status.read();
    const { snapshot, bank, token, sharing } = facts;
    const build = { version: VERSION, commit: COMMIT ?? 'unknown' };
    const mode = { mode: this.settings.mode, route: describeRoutes(this.settings) };
    const states = toStates('status', ['ok', 'degraded', 'error'], judgeHealth(facts).status);
    const circuit = toStates('state', ['closed', 'open', 'half-open'], toFailureSeries(facts).circuit);
    const lastSuccess = toSeconds(toTime(bank.lastSuccessAt.accounts));
    const certificates = certificatesOf(facts);
    const expiries = certificates.map(({ use, ends }) => ({ labels: { use }, value: toSeconds(ends) }));
    const rejections = certificates.map(({ use, rejected }) => ({ labels: { use }, value: rejected }));
    const registry = new Registry();
    const gauge = (name: string, help: string, value: Value | readonly Sample[]) =>
      addGauge(registry, name, help, value);
    gauge('build_info', 'The build that runs.', [{ labels: build, value: 1 }]);
    gauge('mode', 'The bank that is called, and the route to it.', [{ labels: mode, value: 1 }]);
    gauge('ready', 'Whether this instance is ready, as far as it knows.', isReady(facts));
    gauge('status', 'The status of /health.', states);
    gauge('connections', 'Open connections of callers.', await this.#countConnections());
    gauge('pending_requests', 'Requests that wait for the bank.', snapshot.callersWaiting);
    gauge('snapshot_age_seconds', 'Age of the cached snapshot.', toSeconds(snapshot.ageMs));
    gauge(
      'snapshot_expiry_timestamp_seconds',
      'Time at which the cached snapshot stops being served.',
      toSeconds(toTime(snapshot.expiresAt)),
    );
    gauge('snapshot_accounts', 'Accounts in the cached snapshot.', snapshot.accounts);
    gauge('snapshot_stale', 'Whether apps get a stale snapshot.', snapshot.asOf === null ? null : snapshot.stale);
    gauge('snapshot_complete', 'Whether the snapshot has its count, and no account twice.', snapshot.complete);
    gauge('bank_circuit', 'The state of the back-off.', circuit);
    gauge('bank_last_success_timestamp_seconds', 'Time of the last successful refresh from the bank.', lastSuccess);
    gauge('bank_drift_paths', 'Unknown keys and words of the bank, and missing keys.', bank.driftCount);
    gauge('token_expiry_timestamp_seconds', 'Time at which the access token expires.', toSeconds(token.expiresAt));
    gauge('certificate_expiry_timestamp_seconds', 'Time at which a certificate expires.', expiries);
    gauge(
      'certificate_refused',
      "Whether a new certificate was rejected, or the bank's server certificate is not trusted.",
      rejections,
    );
    if (sharing.redis) gauge('sharing_up', 'Whether Redis can be used.', sharing.redis.state === 'fleet');
    new Counter({
      name: 'accounts_gateway_log_lines_dropped_total',
      help: 'Log lines dropped because standard output could not be written.',
      registers: [registry],
    }).inc(countLostLines());
    return registry.metrics();
  }
}

/** @param value a value without labels, or samples with the same labels */
function addGauge(registry: Registry, name: string, help: string, value: Value | readonly Sample[]): void {
  const samples = Array.isArray(value) ? (value as readonly Sample[]) : [{ labels: {}, value: value as Value }];
  const labelNames = Object.keys(samples[0]?.labels ?? {});
  const gauge = new Gauge({ name: `accounts_gateway_${name}`, help, labelNames, registers: [registry] });
  for (const sample of samples) {
    // a gauge without labels starts at 0, which would be a false value
    if (sample.value === null) gauge.remove(sample.labels);
    else gauge.set(sample.labels, Number(sample.value));
  }
}

function certificatesOf({ certificate, token, snapshot, bank, listener }: GatewayFacts) {
  const untrusted = [token.trouble, snapshot.trouble].some((trouble) => trouble?.error.code === 'bank-untrusted');
  const ours = [{ use: 'client', ...certificate }, ...(listener ? [{ use: 'listener', ...listener }] : [])];
  return [
    { use: 'bank', ends: bank.serverCertificateEnds, rejected: untrusted },
    ...ours.map(({ use, notAfter, rejected }) => ({ use, ends: Date.parse(notAfter), rejected: rejected !== null })),
  ];
}

/** A state set: one sample per state, 1 for the current one. */
const toStates = (label: string, states: readonly string[], present: string): Sample[] =>
  states.map((state) => ({ labels: { [label]: state }, value: state === present }));

const toTime = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));

const toSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1000);
