import { validityError } from '../auth/validity-error.js';
import { daysLeft } from '../pfx/expiry-notice.js';
import { readIdentityMaterial, type IdentityMaterial } from '../auth/identity-material.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { FileUnusable } from '../config/small-file.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

const SOON_DAYS = 30;

/** Opens the client certificate: its thumbprint for the bank, and how long it is valid. */
export async function checkCertificate(
  settings: Settings,
  clock: Clock,
  findings: Findings,
): Promise<IdentityMaterial> {
  const nowMs = clock.now().wall;
  const material = await open(settings, new Date(nowMs));
  const { subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter, chainPem, warnings } =
    material.certificate;
  const left = daysLeft(material.certificate, nowMs);
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
  const another = `a new certificate in place of the one with thumbprint ${thumbprint}`;
  const invalid = validityError(material.certificate, nowMs);
  if (invalid) {
    throw new StepFailed(
      invalid.code,
      invalid.owner,
      invalid.detail,
      nowMs > notAfter.getTime()
        ? `Ask the bank for ${another}, and replace its files.`
        : `Compare the clock of this machine (${new Date(nowMs).toISOString()}) with the true time; if it is right, ask the bank for a certificate that is valid already.`,
    );
  }
  if (left < SOON_DAYS) {
    findings.warning = {
      code: 'certificate-expiring',
      problem: [`The certificate expires in ${left} days, on ${notAfter.toISOString()}.`, ...warnings].join(' '),
      remedy: `Ask the bank now for ${another}; the gateway takes it without a restart.`,
    };
  } else if (warnings.length > 0) {
    findings.warning = {
      problem: warnings.join(' '),
      remedy: 'The certificate still works. Follow the advice above before it stops working.',
    };
  }
  return material;
}

async function open(settings: Settings, now: Date): Promise<IdentityMaterial> {
  try {
    return await readIdentityMaterial(settings, now);
  } catch (error) {
    if (error instanceof CertificateUnreadable) {
      throw new StepFailed('pfx-unreadable', 'operator', error.problem, error.remedy);
    }
    if (!(error instanceof FileUnusable)) throw error;
    throw new StepFailed(
      'config-invalid',
      'operator',
      `${error.message}.`,
      `Correct the file ${error.path}, or the setting that names it; it must be readable by the user that the gateway runs as.`,
    );
  }
}
