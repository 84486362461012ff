import type { SecretSource } from '../config/kinds.js';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { readCertificates } from '../config/certificate-files.js';
import { FileUnusable, readSmallFile } from '../config/small-file.js';
import type { ClientCertificate } from './pfx/client-certificate.js';
import { openCertificate, type CertificateRequest } from './pfx/open-certificate.js';
import { CertificateUnreadable } from './pfx/certificate-unreadable.js';

/** Everything that identifies us to the bank, read and checked together. */
export interface IdentityMaterial {
  readonly certificate: ClientCertificate;
  readonly username: string;
  readonly password: string;
  /** PEM of the only CA certificates trusted for the bank, or null. */
  readonly ca: string | null;
  /** PEM of the only CA certificates trusted for an https proxy, or null. */
  readonly proxyCa: string | null;
}

/**
 * Reads certificate, passcode, user name, password and roots from the sources in the settings. When `signal` aborts, it rejects with the reason.
 * @throws CertificateUnreadable for the certificate; FileUnusable for the other files
 */
export async function readIdentityMaterial(
  settings: Settings,
  now: Date,
  signal?: AbortSignal,
): Promise<IdentityMaterial> {
  const source = readSource(settings);
  const [username, password] = [settings.BANK_USERNAME.read(), settings.BANK_PASSWORD.read()];
  const { BANK_CA_FILE: caFile, EGRESS_PROXY_CA_FILE: proxyCaFile } = settings;
  const ca = caFile === undefined ? null : readCertificates(caFile);
  const proxyCa = proxyCaFile === undefined ? null : readCertificates(proxyCaFile).pem;
  try {
    const certificate = await openCertificate({ source, roots: ca && ca.certificates.map(String), now }, signal);
    return { certificate, username, password, ca: ca && ca.pem, proxyCa };
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    throw new CertificateUnreadable(error.reason, `${describeSource(settings)}: ${error.problem}`, error.remedy);
  }
}

function describeSource({ BANK_PFX_FILE: pfx, BANK_CERT_FILE: chain, BANK_KEY_FILE: key }: Settings): string {
  if (chain && key) return `BANK_CERT_FILE ${chain}, BANK_KEY_FILE ${key}`;
  return pfx ? `BANK_PFX_FILE ${pfx}` : 'BANK_PFX_BASE64';
}

/** The files to watch: a change means a new identity. */
export function watchedFiles(settings: Settings): string[] {
  const { BANK_PFX_BASE64, BANK_PFX_PASSCODE, BANK_KEY_PASSPHRASE, BANK_USERNAME, BANK_PASSWORD } = settings;
  return [
    settings.BANK_PFX_FILE,
    settings.BANK_CERT_FILE,
    settings.BANK_KEY_FILE,
    settings.BANK_CA_FILE,
    settings.EGRESS_PROXY_CA_FILE,
    ...[BANK_PFX_BASE64, BANK_PFX_PASSCODE, BANK_KEY_PASSPHRASE, BANK_USERNAME, BANK_PASSWORD].map(
      (secret) => secret?.file,
    ),
  ].filter((file) => typeof file === 'string');
}

/** The error `certificate-unusable`, with the date, for a certificate that cannot be used at `nowMs`; null if it can. */
export function validityError(
  { notBefore, notAfter }: Pick<ClientCertificate, 'notBefore' | 'notAfter'>,
  nowMs: number,
): GatewayError | null {
  if (nowMs > notAfter.getTime()) {
    const detail = `The client certificate expired on ${notAfter.toISOString()}; get a new one from the bank.`;
    return new GatewayError('certificate-unusable', detail);
  }
  if (nowMs < notBefore.getTime()) {
    const detail = `The client certificate is not valid before ${notBefore.toISOString()}; check the clock of this machine, or wait.`;
    return new GatewayError('certificate-unusable', detail);
  }
  return null;
}

function readSource(settings: Settings): CertificateRequest['source'] {
  const { BANK_PFX_FILE, BANK_PFX_BASE64, BANK_PFX_PASSCODE, BANK_CERT_FILE, BANK_KEY_FILE } = settings;
  if (BANK_CERT_FILE && BANK_KEY_FILE) {
    return {
      kind: 'pem',
      chain: readCertificateFile('BANK_CERT_FILE', BANK_CERT_FILE),
      key: readCertificateFile('BANK_KEY_FILE', BANK_KEY_FILE),
      passphrase: settings.BANK_KEY_PASSPHRASE.read(),
    };
  }
  return {
    kind: 'pfx',
    bytes: BANK_PFX_BASE64 ? toBytes(BANK_PFX_BASE64) : readCertificateFile('BANK_PFX_FILE', BANK_PFX_FILE ?? ''),
    passcode: BANK_PFX_PASSCODE.read(),
  };
}

/** A file may also contain the PFX itself. */
const toBytes = ({ file, read }: SecretSource): Buffer =>
  file === null ? Buffer.from(read()) : readCertificateFile('BANK_PFX_BASE64_FILE', file);

function readCertificateFile(variable: string, file: string): Buffer {
  try {
    return readSmallFile(file);
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    const remedy = "Use the path of a regular file of at most 1 MB that the gateway's user can read.";
    throw new CertificateUnreadable('file', `${variable} ${error.problem}.`, remedy, { cause: error });
  }
}
