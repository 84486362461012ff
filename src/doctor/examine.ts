import pLimit from 'p-limit';
import { pino } from 'pino';
import { Activity } from '../telemetry/activity.js';
import { AuthorizedCall } from '../auth/authorized-call.js';
import { BankIdentity } from '../auth/bank-identity.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { checkAccounts, checkShape } from './check-accounts.js';
import { checkCertificate } from './check-certificate.js';
import { checkRoute, checkTls } from './check-connection.js';
import { checkDns } from './check-dns.js';
import { checkSettings, type SettingsSource } from './check-settings.js';
import { checkSharing } from './check-sharing.js';
import { rejectionRemedy } from './connection-failure.js';
import { toHosts } from './hosts.js';
import type { DoctorReport } from './report.js';
import { StepFailed, toStepFailed } from './step-failed.js';
import { Walk, type Findings, type OnStep } from './walk.js';

interface ExamineOptions {
  readonly mode: Settings['mode'];
  /** Stop after the local steps. */
  readonly offline: boolean;
  readonly settings: SettingsSource;
  readonly clock: Clock;
  readonly onStep: OnStep;
}

/**
 * Checks the path to the bank hop by hop with the gateway's own code, and stops at the first failure
 * (docs/troubleshooting.md#steps-and-exit-codes). Facts contain names, addresses, dates, counts and thumbprints, never a secret or an amount.
 */
export async function examine(options: ExamineOptions): Promise<DoctorReport> {
  const { mode, offline, settings: source, clock } = options;
  const walk = new Walk(options.onStep);
  const settings = await walk.step('settings', (findings) => checkSettings(source, findings));
  const material =
    settings && (await walk.step('certificate', (findings) => checkCertificate(settings, clock, findings)));
  if (settings && material && !offline) await examineBank(walk, settings, material, clock);
  const redis = settings?.REDIS_URL;
  if (redis && !offline) await walk.step('sharing', (findings) => checkSharing(redis, settings, findings));
  const steps = walk.reports.filter(({ name }) => name !== 'sharing' || redis);
  return { ok: steps.every(({ status }) => status !== 'failed'), mode, steps };
}

/** The steps that leave this machine. */
async function examineBank(walk: Walk, settings: Settings, material: IdentityMaterial, clock: Clock): Promise<void> {
  const logger = pino({ level: 'silent' });
  const activity = new Activity();
  const identity = new BankIdentity({ material, settings, clock, activity, logger, oneAtATime: pLimit(1) });
  const hosts = toHosts(settings);
  const { thumbprint } = material.certificate;
  try {
    await walk.step('dns', (findings) => checkDns(hosts, settings.BANK_CONNECT_TIMEOUT_MS, findings));
    const connections = await walk.step('route', (findings) => checkRoute(identity.egress, hosts, settings, findings));
    await walk.step('tls', async (findings) => checkTls(connections ?? [], material, findings));
    await walk.step('token', (findings) =>
      checkToken(identity, findings).catch((thrown) => failOf('token', thrown, thumbprint)),
    );
    const call = new AuthorizedCall({ current: identity }, settings, clock);
    const listed = await walk.step('accounts', (findings) =>
      checkAccounts(call, clock, settings, findings).catch((thrown) => failOf('accounts', thrown, thumbprint)),
    );
    if (listed) await walk.step('shape', (findings) => checkShape(listed, findings));
  } finally {
    identity.egress.retire();
  }
}

/** A refusal of our certificate belongs to the TLS step, however late it came. */
function failOf(step: 'token' | 'accounts', thrown: unknown, thumbprint: string): never {
  const failure = toStepFailed(thrown, step);
  if (failure.code !== 'certificate-rejected') throw failure;
  throw new StepFailed(failure.code, failure.owner, failure.problem, rejectionRemedy(thumbprint), 'tls');
}

async function checkToken({ tokens }: BankIdentity, { facts }: Findings): Promise<void> {
  const { lifetimeMs } = await tokens.get();
  facts['lifetimeSeconds'] = lifetimeMs / 1000;
}
