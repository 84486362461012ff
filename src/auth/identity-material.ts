import type { Settings } from '../config/settings.js';
import {
  type KeysAndCertificates,
  readCertificates,
  toCertificates,
  toPfx,
  toPrivateKeys,
} from '../files/certificate-files.js';
import { FileUnusable, hintOf, readSmallFile } from '../files/small-file.js';
import { toClientCertificate, type ClientCertificate } from './client-certificate.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';
import { readPfx } from '../files/read-pfx.js';

/** Certificate, credentials and CA certificates for calls to the bank, read and checked together. */
export interface IdentityMaterial {
  readonly certificate: ClientCertificate;
  readonly username: string;
  readonly password: string;
  /** PEM of the only CA certificates trusted for the bank, or null. */
  readonly ca: string | null;
  /** PEM of the only CA certificates trusted for an https proxy, or null. */
  readonly proxyCa: string | null;
}

/** If the certificate is unusable, its error takes its place: the rest may still be used. */
export interface FoundMaterial extends Omit<IdentityMaterial, 'certificate'> {
  readonly certificate: ClientCertificate | Error;
}

/** Does not block callers, as `readPfx`. @throws FileUnusable for a file of the user name, the password or a CA */
export async function findIdentityMaterial(settings: Settings, now: Date): Promise<FoundMaterial> {
  const { BANK_USERNAME, BANK_PASSWORD, BANK_CA_FILE, EGRESS_PROXY_CA_FILE } = settings;
  const readRoots = (file: string | undefined) => (file === undefined ? null : readCertificates(file).pem);
  const access = {
    username: BANK_USERNAME.read(),
    password: BANK_PASSWORD.read(),
    ca: readRoots(BANK_CA_FILE),
    proxyCa: readRoots(EGRESS_PROXY_CA_FILE),
  };
  try {
    const contents = settings.BANK_CERT_FILE ? readPemFiles(settings) : await readPfxFile(settings);
    const issuers = access.ca === null ? [] : toCertificates(Buffer.from(access.ca));
    return { certificate: toClientCertificate(contents, now, issuers), ...access };
  } catch (error) {
    return { certificate: withHint(error as Error, settings), ...access };
  }
}

/** After a reload, nothing else names what is odd about a passcode or passphrase that does not fit. */
function withHint(error: Error, { BANK_CERT_FILE, BANK_KEY_PASSPHRASE, BANK_PFX_PASSCODE }: Settings): Error {
  if (!(error instanceof CertificateUnreadable) || error.reason !== 'passcode') return error;
  const hint = hintOf((BANK_CERT_FILE ? BANK_KEY_PASSPHRASE : BANK_PFX_PASSCODE).read(), true);
  const problem = hint ? `${error.problem} The one given ${hint}.` : error.problem;
  return new CertificateUnreadable('passcode', problem, error.remedy, { cause: error.cause });
}

/** @throws CertificateUnreadable, FileUnusable */
export const readIdentityMaterial = async (settings: Settings, now: Date): Promise<IdentityMaterial> =>
  toMaterial(await findIdentityMaterial(settings, now));

/** @throws CertificateUnreadable, FileUnusable */
export function toMaterial({ certificate, ...access }: FoundMaterial): IdentityMaterial {
  if (certificate instanceof Error) throw certificate;
  return { certificate, ...access };
}

function readPemFiles({ BANK_CERT_FILE, BANK_KEY_FILE, BANK_KEY_PASSPHRASE }: Settings): KeysAndCertificates {
  const passphrase = BANK_KEY_PASSPHRASE.read();
  return {
    keys: named('BANK_KEY_FILE', () => toPrivateKeys(readSmallFile(BANK_KEY_FILE ?? ''), passphrase)),
    certificates: named('BANK_CERT_FILE', () => toCertificates(readSmallFile(BANK_CERT_FILE ?? ''))),
  };
}

async function readPfxFile(settings: Settings): Promise<KeysAndCertificates> {
  const { BANK_PFX_FILE, BANK_PFX_BASE64: base64, BANK_PFX_PASSCODE } = settings;
  const passcode = BANK_PFX_PASSCODE.read();
  if (base64?.file === null)
    return readPfx(
      named('BANK_PFX_BASE64', () => toPfx(Buffer.from(base64.read()))),
      passcode,
    );
  // either file may contain the PFX in binary or as base64
  const variable = base64 ? 'BANK_PFX_BASE64_FILE' : 'BANK_PFX_FILE';
  return readPfx(
    named(variable, () => toPfx(readSmallFile(base64?.file ?? BANK_PFX_FILE ?? ''))),
    passcode,
  );
}

/** Runs `read` for a setting. @throws CertificateUnreadable, which names the setting */
function named<T>(variable: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof FileUnusable) {
      const remedy = "Use the path of a regular file of at most 1 MB that the gateway's user can read.";
      throw new CertificateUnreadable('file', `${variable} ${cause.problem}.`, remedy, { cause });
    }
    if (!(cause instanceof CertificateUnreadable)) throw cause;
    const { reason, problem, remedy } = cause;
    const todo =
      reason === 'passcode'
        ? `Check BANK_KEY_PASSPHRASE or BANK_KEY_PASSPHRASE_FILE, or ${remedy}`
        : toSentence(remedy);
    throw new CertificateUnreadable(reason, `${variable} ${problem}.`, `${todo}.`, { cause });
  }
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

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
