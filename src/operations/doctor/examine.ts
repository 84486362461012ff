import { pino } from 'pino';
import { AuthorizedCall } from '../../auth/authorized-call.js';
import { BankIdentity } from '../../auth/bank-identity.js';
import type { IdentityMaterial } from '../../auth/identity-material.js';
import type { Settings } from '../../config/settings.js';
import { Activity } from '../../telemetry/activity.js';
import type { Clock } from '../../time/clock.js';
import { describeBank, recordOddPages } from './describe-bank.js';
import type { TlsFacts } from './connect.js';
import type { Recorder } from '../../recording/recorder.js';
import { checkAccounts, checkShape } from './check-accounts.js';
import { checkDns, checkRoute, checkSharing, checkTls } from './check-connection.js';
import { checkCertificate, checkSettings, type SettingsSource } from './check-files.js';
import { checkToken, explainByOlderTls } from './check-token.js';
import { Steps, STEPS, type Findings, type StepReport } from './steps.js';

interface ExamineOptions {
  readonly mode: Settings['mode'];
  readonly offline: boolean;
  readonly settings: SettingsSource;
  readonly clock: Clock;
  readonly onStep: (report: StepReport) => void;
  /** Records the calls to the bank, starting with the token request. */
  readonly recorder?: Recorder | undefined;
}

/** Output of `--json` (docs/troubleshooting.md). */
export type DoctorReport = Awaited<ReturnType<typeof examine>>;

export const failedStep = ({ steps }: DoctorReport): StepReport | null =>
  steps.find(({ status }) => status === 'failed') ?? null;

/** 0 if no step failed, 1 for an internal error, else the code of the failed step: 2 for settings … 10 for sharing. */
export function toExitCode(report: DoctorReport): number {
  const failed = failedStep(report);
  if (!failed) return 0;
  return failed.code === 'internal-error' ? 1 : STEPS.indexOf(failed.name) + 2;
}

/**
 * Checks the path to the bank step by step with the gateway's own code, and stops at the first failure
 * (docs/troubleshooting.md#steps-and-exit-codes). Facts contain names, addresses, dates, counts and thumbprints, never a secret or an amount.
 */
export async function examine(options: ExamineOptions) {
  const { mode, offline, settings: source, clock } = options;
  const steps = new Steps(options.onStep);
  let isSharing = false;
  try {
    const settings = await steps.run('settings', (findings) => checkSettings(source, findings));
    const { REDIS_URL } = settings;
    isSharing = REDIS_URL !== undefined;
    const material = await steps.run('certificate', (findings) => checkCertificate(settings, clock, findings));
    if (!offline) await examineBank(steps, settings, material, options);
    if (REDIS_URL && !offline) {
      await steps.run('sharing', (findings) => checkSharing({ ...settings, REDIS_URL }, clock, findings));
    }
  } catch (error) {
    // the error of a failed step is already in its report
    if (steps.reports.every(({ status }) => status !== 'failed')) throw error;
  }
  const reports = steps.reports.filter(({ name }) => name !== 'sharing' || isSharing);
  return { ok: reports.every(({ status }) => status !== 'failed'), mode, steps: reports };
}

/** The steps from dns to shape. */
async function examineBank(
  steps: Steps,
  settings: Settings,
  material: IdentityMaterial,
  { clock, recorder }: ExamineOptions,
): Promise<void> {
  const parts = { settings, clock, activity: new Activity(), logger: pino({ level: 'silent' }) };
  const identity = new BankIdentity(material, recorder ? { ...parts, onCall: recorder.note } : parts);
  const { egress } = identity;
  const call = new AuthorizedCall({ current: identity, failed: () => Promise.resolve() }, settings, clock);
  let tls: Record<string, TlsFacts> = {};
  /** Runs a step that the bank may reject. It resumes no TLS session, so that the bank checks the certificate again. */
  const ask = <T>(name: 'tls' | 'token' | 'accounts', work: (findings: Findings) => Promise<T>): Promise<T> =>
    steps.run(name, async (findings) => {
      if (name !== 'tls') egress.forget();
      try {
        return await work(findings);
      } catch (error) {
        if (Object.values(tls).every(({ tlsVersion }) => tlsVersion !== 'TLSv1.3')) throw error;
        const older = { ...parts, settings: { ...settings, BANK_TLS_MAX_VERSION: '1.2' as const } };
        throw await explainByOlderTls(error, new BankIdentity(material, older));
      }
    });
  try {
    await steps.run('dns', (findings) => checkDns(settings, findings));
    const handshakes = await steps.run('route', (findings) => checkRoute(egress, settings, findings));
    await ask('tls', (findings) => {
      tls = findings.facts as typeof tls;
      return checkTls(handshakes, findings);
    });
    if (recorder) recorder.bank = describeBank(settings, material, tls);
    await ask('token', (findings) => checkToken(identity, findings));
    const listed = await ask('accounts', async (findings) => {
      const found = await checkAccounts(call, settings, findings);
      if (recorder) await recordOddPages(recorder, call, settings, found.pages);
      return found;
    });
    await steps.run('shape', (findings) => checkShape(listed, findings));
  } finally {
    egress.retire();
  }
}
