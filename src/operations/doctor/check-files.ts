import { validityError } from '../../auth/client-certificate.js';
import { readIdentityMaterial, type IdentityMaterial } from '../../auth/identity-material.js';
import { existingEnvFile, whereSettingsAre } from '../../config/env-file.js';
import { SettingsInvalid } from '../../config/settings-error.js';
import type { Settings } from '../../config/settings.js';
import { describeRoute } from '../../egress/route.js';
import { CertificateUnreadable } from '../../files/certificate-unreadable.js';
import { daysLeft, EXPIRING_UNDER_DAYS, toDays } from '../../auth/expiry-notice.js';
import { SandboxNotStarted } from '../../sandbox/listen.js';
import type { Clock } from '../../time/clock.js';
import { problemOf, StepFailed, type Findings } from './steps.js';

const INVALID = { code: 'config-invalid', owner: 'operator' } as const;

/** Reads the settings, and starts the sandbox bank on request. @throws SettingsInvalid, SandboxNotStarted */
export type SettingsSource = () => Promise<{ readonly settings: Settings; readonly warnings: readonly string[] }>;

/** Reads all settings as the gateway does. A .env is named, because the gateway may run in another directory. */
export async function checkSettings(source: SettingsSource, findings: Findings): Promise<Settings> {
  Object.assign(findings.facts, { envFile: existingEnvFile() });
  try {
    const { settings, warnings } = await source();
    const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl } = settings;
    Object.assign(findings.facts, { baseUrl, authUrl, route: describeRoute(settings, baseUrl) });
    if (warnings.length > 0) {
      findings.warning = { problem: `${warnings.join('; ')}.`, remedy: 'Correct these settings, or leave them out.' };
    }
    return settings;
  } catch (error) {
    if (error instanceof SandboxNotStarted) {
      const remedy = 'Correct the settings of the sandbox bank; docs/settings.md lists them.';
      throw new StepFailed({ ...INVALID, problem: error.message, remedy });
    }
    if (!(error instanceof SettingsInvalid)) throw error;
    const { errors, warnings } = error;
    const problems = [...errors.map(({ variable, problem }) => `${variable} ${problem}`), ...warnings];
    const examples = errors.map(({ example }) => example).join('; ');
    throw new StepFailed({
      ...INVALID,
      problem: `${problems.join('; ')}.`,
      remedy: `Correct ${whereSettingsAre()}, for example ${examples}. docs/settings.md lists all settings.`,
    });
  }
}

export async function checkCertificate(
  settings: Settings,
  clock: Clock,
  findings: Findings,
): Promise<IdentityMaterial> {
  const nowMs = clock.now().wall;
  const material = await readIdentityMaterial(settings, new Date(nowMs)).catch((error: unknown) => {
    if (!(error instanceof CertificateUnreadable)) throw error;
    const { problem, remedy } = error;
    throw new StepFailed({ code: 'pfx-unreadable', owner: 'operator', problem, remedy });
  });
  const { certificate } = material;
  const { subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter, chainPem, warnings } = certificate;
  const left = daysLeft(certificate, nowMs);
  Object.assign(findings.facts, {
    subject,
    issuer,
    thumbprint,
    thumbprintSha256,
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
    daysLeft: left,
    intermediates: chainPem.length,
  });
  const invalid = validityError(certificate, nowMs);
  if (invalid) throw invalid;
  if (left < EXPIRING_UNDER_DAYS) {
    const problem = [`The certificate expires in ${toDays(left)}.`, ...warnings].join(' ');
    findings.warning = problemOf('certificate-expiring', problem);
  } else if (warnings.length > 0) {
    findings.warning = { problem: warnings.join(' '), remedy: 'Fix this, or the bank may reject the certificate.' };
  }
  return material;
}
