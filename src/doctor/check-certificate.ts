import { certificateFault } from '../auth/bank-identity.js';
import { daysLeft } from '../pfx/expiry-notice.js';
import { readIdentityMaterial, type IdentityMaterial } from '../auth/identity-material.js';
import { CertificateUnreadable, type UnreadableReason } from '../pfx/certificate-unreadable.js';
import { EXPORT_AGAIN } from '../pfx/remedy.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { FileUnusable } from '../config/small-file.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

const SOON_DAYS = 30;

const FETCH_AGAIN =
  'Fetch the PFX again from where the bank or the issuer gave it out, as a binary file, and compare its size with the original.';
const EXPORT_WHOLE =
  'Export the PFX again with the private key and the certificate that belongs to it, or ask the bank for the complete PFX.';

const PFX_REMEDIES: Readonly<Record<UnreadableReason, string>> = {
  file: 'Put the PFX that the bank issued at that path, readable by the user that the gateway runs as.',
  passcode:
    'Ask those who exported the PFX for its passcode, and give it as BANK_PFX_PASSCODE or BANK_PFX_PASSCODE_FILE.',
  'not-pfx': FETCH_AGAIN,
  'cut-off': FETCH_AGAIN,
  damaged: FETCH_AGAIN,
  'unknown-algorithm': `Export the PFX again with AES: ${EXPORT_AGAIN}`,
  'no-key': EXPORT_WHOLE,
  'no-certificate': EXPORT_WHOLE,
  'key-mismatch': EXPORT_WHOLE,
  'refused-by-tls': 'Ask the bank for a certificate with a key of RSA 2048 or EC P-256 at least, signed with SHA-256.',
};

/** The PFX, opened with its passcode, and the certificate in it: what to give to the bank, and how long it lasts. */
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
  const [from, to] = [notBefore.toISOString(), notAfter.toISOString()];
  Object.assign(findings.facts, {
    subject,
    issuer,
    thumbprint,
    thumbprintSha256,
    notBefore: from,
    notAfter: to,
    daysLeft: left,
    intermediates: chainPem.length,
  });
  findings.lines.push(
    subject,
    `thumbprint  ${thumbprint}  (SHA-1, to give to the bank)`,
    `issued by   ${issuer}${chainPem.length > 0 ? ', intermediate in the PFX' : ''}`,
    `valid       ${toDay(from)} to ${toDay(to)}${left >= 0 ? ` (${days(left)} left)` : ''}`,
  );

  const fault = certificateFault(material.certificate, nowMs);
  if (fault) {
    throw new StepFailed(
      'certificate-unusable',
      'operator',
      fault,
      nowMs > notAfter.getTime()
        ? `Ask the bank for a new certificate in place of the one with thumbprint ${thumbprint}, and put its PFX and passcode in place.`
        : `Compare the clock of this machine (${new Date(nowMs).toISOString()}) with the true time; if it is right, ask the bank for a certificate that is valid already.`,
    );
  }
  const soon = left < SOON_DAYS;
  const problems = [...(soon ? [`The certificate ends in ${days(left)}, on ${toDay(to)}.`] : []), ...warnings];
  if (problems.length > 0) {
    findings.problem = problems.join(' ');
    findings.remedy = soon
      ? `Ask the bank now for a new certificate in place of the one with thumbprint ${thumbprint}; its PFX is taken up while running.`
      : 'It works for now; do as said above before it does not.';
  }
  return material;
}

const days = (count: number) => (count === 1 ? '1 day' : count === 0 ? 'less than a day' : `${count} days`);

/** The day of an ISO date. */
const toDay = (iso: string) => iso.slice(0, 10);

async function open(settings: Settings, now: Date): Promise<IdentityMaterial> {
  try {
    return await readIdentityMaterial(settings, now);
  } catch (error) {
    if (error instanceof CertificateUnreadable) {
      throw new StepFailed('pfx-unreadable', 'operator', error.message, PFX_REMEDIES[error.reason]);
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
