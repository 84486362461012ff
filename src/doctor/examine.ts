import pLimit from 'p-limit';
import { Activity } from '../telemetry/activity.js';
import { AuthorizedCall } from '../auth/authorized-call.js';
import { BankIdentity } from '../auth/bank-identity.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { PageSource } from '../bank/page-source.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { createLogger } from '../logging/logging.js';
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
  /** Ends after the local steps. */
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
  if (settings && material && !offline) await examineBank(walk, { settings, material, clock });
  const redis = settings?.REDIS_URL;
  if (redis && !offline) await walk.step('sharing', (findings) => checkSharing(redis, settings, findings));
  const steps = walk.reports.filter(({ name }) => name !== 'sharing' || redis);
  return { ok: steps.every(({ status }) => status !== 'failed'), mode, steps };
}

interface Parts {
  readonly settings: Settings;
  readonly material: IdentityMaterial;
  readonly clock: Clock;
}

type LoggedLine = { readonly event?: string; readonly msg?: string; readonly status?: number };

/** The steps that leave this machine. */
async function examineBank(walk: Walk, parts: Parts): Promise<void> {
  const { settings, material, clock } = parts;
  const { thumbprint } = material.certificate;
  const logged: LoggedLine[] = [];
  const identity = createIdentity(parts, settings, logged);
  const hosts = toHosts(settings);
  let spokeTls13 = false;
  const call = new AuthorizedCall({ current: identity }, settings, clock);

  /** A step that asks the bank for something, with what a refusal means; `askAgain` is the least that shows it gone. */
  const asking = async <T>(
    step: 'token' | 'accounts',
    findings: Findings,
    work: () => Promise<T>,
    askAgain: (older: BankIdentity) => Promise<unknown>,
  ): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      const failure = toStepFailed(thrown, step);
      const { code, owner, problem } = failure;
      // a refusal of our certificate belongs to the TLS step, however late it came
      if (code === 'certificate-rejected') {
        throw new StepFailed(code, owner, problem, rejectionRemedy(thumbprint), 'tls');
      }
      const status = logged.findLast(({ event }) => event === 'bank.call')?.status;
      if ((status !== 401 && status !== 403) || !spokeTls13) throw failure;
      const older = createIdentity(parts, { ...settings, BANK_TLS_MAX_VERSION: '1.2' }, []);
      const accepted = await askAgain(older).then(
        () => true,
        () => false,
      );
      older.retire();
      findings.facts['overTls12'] = accepted ? 'accepted' : 'refused';
      throw accepted ? toLateCertificate(failure) : failure;
    }
  };

  try {
    await walk.step('dns', (findings) => checkDns(hosts, settings.BANK_CONNECT_TIMEOUT_MS, findings));
    const attempts = await walk.step('route', (findings) => checkRoute(identity.egress, hosts, settings, findings));
    await walk.step('tls', async (findings) => checkTls(attempts ?? [], material, findings));
    // over which no bank can ask for the certificate late
    spokeTls13 = attempts?.some(({ seen }) => seen.tlsVersion === 'TLSv1.3') ?? false;
    await walk.step('token', (findings) =>
      asking(
        'token',
        findings,
        () => checkToken(identity, logged, findings),
        (older) => older.tokens.get(),
      ),
    );
    const listed = await walk.step('accounts', (findings) =>
      asking(
        'accounts',
        findings,
        () => checkAccounts(call, clock, settings, findings),
        (older) => askFirstPage(new AuthorizedCall({ current: older }, settings, clock), parts),
      ),
    );
    if (listed) await walk.step('shape', (findings) => checkShape(listed, findings));
  } finally {
    identity.retire();
  }
}

/** Logs into `logged` what would be logged while serving: the report is made of it. */
function createIdentity({ material, clock }: Parts, settings: Settings, logged: LoggedLine[]) {
  return new BankIdentity({
    material,
    settings,
    clock,
    activity: new Activity(),
    logger: createLogger({
      level: 'debug',
      pretty: false,
      destination: { write: (line) => void logged.push(JSON.parse(line) as LoggedLine) },
    }),
    oneAtATime: pLimit(1),
  });
}

async function checkToken({ tokens }: BankIdentity, logged: readonly LoggedLine[], findings: Findings): Promise<void> {
  const { lifetimeMs } = await tokens.get();
  const lifetimeSeconds = lifetimeMs / 1000;
  findings.facts['lifetimeSeconds'] = lifetimeSeconds;
  findings.lines.push(`lives ${lifetimeSeconds} s`);
  const unknown = logged.find(({ event }) => event === 'token.lifetime-unknown');
  if (!unknown) return;
  findings.problem = `The bank does not state the lifetime of its token: ${unknown.msg}.`;
  findings.remedy = 'The gateway works, but requests tokens more often. Tell the bank that expires_in cannot be read.';
  findings.owner = 'bank';
}

function askFirstPage(call: AuthorizedCall, { settings, clock }: Parts): Promise<unknown> {
  const signal = AbortSignal.timeout(settings.SNAPSHOT_READ_TIMEOUT_MS);
  return new PageSource(call, clock).get({ pageNumber: 1, pageSize: 1, refreshId: crypto.randomUUID(), signal });
}

/** The refusal of a bank that asks for the certificate once it has seen the request (docs/bank.md#tls). */
function toLateCertificate({ code, problem }: StepFailed): StepFailed {
  return new StepFailed(
    code,
    'operator',
    `${problem} But the same request succeeds over TLS 1.2: the bank asks for our certificate after the handshake, which is impossible in TLS 1.3.`,
    'Set BANK_TLS_MAX_VERSION=1.2, or ask the bank to request the client certificate within the handshake.',
  );
}
