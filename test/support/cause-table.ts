import { afterAll, expect, it } from '@jest/globals';
import type { DoctorReport } from '../../src/operations/doctor/examine.js';
import { alertsOf, inhibit, nameOf, type Span } from './cause-alerts.js';
import type { Answer } from './call.js';
import type { LogLine } from './log-lines.js';
import { hasPromtool } from './tools.js';

/** Everything that the gateway reports for one cause. */
export interface Said {
  readonly cause: string;
  /** Responses to the app, in order. */
  readonly app: readonly Answer[];
  readonly health: Answer;
  /** Log lines since the cause. */
  readonly lines: readonly LogLine[];
  readonly doctor: DoctorReport;
  /** Time from the cause until /health or the app shows it. */
  readonly seconds: number;
  readonly spans: readonly Span[];
}

/** The only ones of a cause; null if there is none. */
export interface Expected {
  readonly code: string | null;
  readonly owner: string | null;
  /** The doctor's code. */
  readonly doctor: string | null;
  /** What the inhibit rules leave. */
  readonly alert: string | null;
}

interface Trouble {
  readonly status: string;
  readonly code?: string;
  readonly owner?: string;
}

const pair = ({ code, owner }: { code?: unknown; owner?: unknown }) => `${String(code)}, ${String(owner)}`;
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const problemsOf = ({ app }: Said) => app.filter(({ status }) => status >= 400).map(({ json }) => pair(json));

const unhealthyOf = ({ health }: Said) =>
  Object.values((health.json as { details: Record<string, Trouble> }).details).filter(
    ({ status }) => status === 'down' || status === 'degraded',
  );

const findingsOf = ({ doctor }: Said) =>
  doctor.steps.filter(({ status, code }) => status === 'failed' || (status === 'warning' && code !== null));

/** Asserts that each error in a response, component or log line has this code and owner, and the doctor its own code. */
export function expectOneCause(said: Said, { code, owner, doctor }: Omit<Expected, 'alert'>): void {
  const all = [
    ...problemsOf(said),
    ...unhealthyOf(said).map(pair),
    ...said.lines.filter((line) => line['code'] !== undefined).map(pair),
  ];
  expect(unique(all)).toEqual(code === null ? [] : [`${code}, ${owner}`]);
  expect(findingsOf(said).map(pair)).toEqual(doctor === null ? [] : [`${doctor}, ${owner}`]);
}

function toApp({ status, headers, json }: Answer): string {
  if (status >= 400) return `${status} ${pair(json)}`;
  return headers['snapshot-stale'] === 'true' ? `${status} stale` : String(status);
}

const toLog = ({ lines }: Said) =>
  unique(
    lines
      .filter(({ level, event }) => level !== 'debug' && level !== 'info' && event !== 'request')
      .map(({ event, level }) => `${String(event)} (${String(level)})`),
  ).join('; ');

const toDoctor = (said: Said) =>
  findingsOf(said)
    .map((step) => `${step.name} ${step.status}: ${pair(step)}`)
    .join('; ');

/** `keep` asserts and records what is reported, `checkAlerts` is the test of the alerts. Prints the table if CAUSES is set. */
export function keepCauses() {
  const kept: { readonly said: Said; readonly alert: string | null }[] = [];
  const rows: string[][] = [];

  afterAll(() => {
    if (!process.env['CAUSES']) return;
    const head = ['cause', 'after s', 'app', '/health', 'log', 'doctor', 'alert (first minute)'];
    const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  });

  const keep = (said: Said, expected: Expected) => {
    expectOneCause(said, expected);
    kept.push({ said, alert: expected.alert });
    const { status } = said.health.json as { status: string };
    const health = [status, ...unique(unhealthyOf(said).map(pair))].join(': ');
    const app = unique(said.app.map(toApp)).join(', then ');
    const dash = (text: string) => text || '–';
    const cells = [said.cause, said.seconds.toFixed(1), app, health, dash(toLog(said)), dash(toDoctor(said)), '–'];
    rows.push(cells);
  };

  const checkAlerts = () =>
    (hasPromtool() ? it : it.skip)('each cause fires its one alert, or none, after the inhibit rules', () => {
      const all = alertsOf(kept.map(({ said }) => said.spans));
      const left = all.map((alerts) => {
        const end = Math.max(...alerts.map(({ minutes }) => minutes.at(-1) ?? 0));
        return inhibit(alerts.filter(({ minutes }) => minutes.at(-1) === end));
      });
      all.forEach((alerts, index) => {
        const shown = alerts.map(
          (alert) => `${nameOf(alert)} (${alert.minutes[0]})${inhibit(alerts).includes(alert) ? '' : ' (silenced)'}`,
        );
        rows[index]?.splice(6, 1, shown.join('; ') || '–');
      });
      const expected = kept.map(({ said, alert }) => [said.cause, alert === null ? [] : [alert]]);
      expect(kept.map(({ said }, index) => [said.cause, left[index]?.map(nameOf)])).toEqual(expected);
    });

  return { keep, checkAlerts };
}
