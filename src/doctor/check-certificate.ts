import { certificateFault } from '../auth/bank-identity.js';
import { daysLeft } from '../auth/expiry-notice.js';
import { readIdentityMaterial, type IdentityMaterial } from '../auth/identity-material.js';
import { PfxUnreadable } from '../auth/pfx/pfx-unreadable.js';
import type { Clock } from '../clock.js';
import { PROBLEMS } from '../problems/problem-table.js';
import type { Settings } from '../settings/settings.js';
import { FileUnusable } from '../settings/small-file.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

const SOON_DAYS = 30;

/** The PFX, opened with its passcode, and the certificate in it: what to give to the bank, and how long it lasts. */
export async function checkCertificate(
  { bank }: Settings,
  clock: Clock,
  findings: Findings,
): Promise<IdentityMaterial> {
  const nowMs = clock.now().wall;
  const material = open(bank.identity, new Date(nowMs));
  const { certificate } = material;
  const left = daysLeft(certificate, nowMs);
  Object.assign(findings.facts, {
    subject: certificate.subject,
    issuer: certificate.issuer,
    thumbprint: certificate.thumbprint,
    thumbprintSha256: certificate.thumbprintSha256,
    notBefore: certificate.notBefore.toISOString(),
    notAfter: certificate.notAfter.toISOString(),
    daysLeft: left,
    intermediates: certificate.chainPem.length,
  });
  const fault = certificateFault(certificate, nowMs);
  if (fault) throw new StepFailed('certificate-unusable', 'operator', fault, PROBLEMS['certificate-unusable'].remedy);
  const warnings = [...certificate.warnings];
  if (left < SOON_DAYS) warnings.unshift(`The certificate ends in ${left} days.`);
  if (warnings.length > 0) {
    findings.problem = warnings.join(' ');
    findings.remedy =
      left < SOON_DAYS
        ? 'Ask the bank for a new PFX now; it is taken up while running.'
        : 'See the README, "Renewing the certificate".';
  }
  return material;
}

function open(identity: Settings['bank']['identity'], now: Date): IdentityMaterial {
  try {
    return readIdentityMaterial(identity, now);
  } catch (error) {
    if (error instanceof PfxUnreadable) {
      throw new StepFailed(
        'pfx-unreadable',
        'operator',
        error.message,
        'Do as the message says, then run the doctor again; nothing was sent to the bank.',
      );
    }
    if (!(error instanceof FileUnusable)) throw error;
    throw new StepFailed(
      'pfx-unreadable',
      'operator',
      `${error.message}.`,
      'Put a readable file there, owned by the user that the gateway runs as.',
    );
  }
}
