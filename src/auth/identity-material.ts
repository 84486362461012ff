import { X509Certificate } from 'node:crypto';
import { FileUnusable, readSmallFile } from '../config/small-file.js';
import type { IdentitySettings } from '../config/settings.js';
import { toClientCertificate, type ClientCertificate } from '../pfx/client-certificate.js';
import { PfxUnreadable } from '../pfx/pfx-unreadable.js';
import { readPfx } from '../pfx/read-pfx.js';

/** All that makes us recognisable to the bank, read and checked together. */
export interface IdentityMaterial {
  readonly certificate: ClientCertificate;
  readonly username: string;
  readonly password: string;
  /** PEM of the only roots trusted for the bank, or null. */
  readonly ca: string | null;
}

const MAX_PFX_BYTES = 1_048_576;

/**
 * Reads certificate, passcode, user name, password and roots from where the settings say.
 * @throws PfxUnreadable when the PFX can't be read or opened; FileUnusable for the other files
 */
export function readIdentityMaterial(settings: IdentitySettings, now: Date): IdentityMaterial {
  const passcode = settings.passcode.read();
  return {
    certificate: readCertificate(settings, passcode, now),
    username: settings.username.read(),
    password: settings.password.read(),
    ca: settings.caFile === null ? null : readRoots(settings.caFile),
  };
}

function readCertificate(settings: IdentitySettings, passcode: string, now: Date): ClientCertificate {
  try {
    return toClientCertificate(readPfx(readPfxBytes(settings.pfx), passcode), now);
  } catch (error) {
    if (!(error instanceof PfxUnreadable) || error.reason === 'file') throw error;
    // names what was set, and where it is
    const message = error.message.replace(/BANK_PFX_PASSCODE(?!_)/g, settings.passcode.variable);
    const place = 'file' in settings.pfx ? `BANK_PFX_FILE ${settings.pfx.file}` : settings.pfx.base64.variable;
    throw new PfxUnreadable(error.reason, `${place}: ${message}`);
  }
}

function readRoots(file: string): string {
  const pem = readSmallFile(file, MAX_PFX_BYTES).toString('utf8');
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw new FileUnusable(file, 'holds no PEM certificate');
  certificates.forEach((certificate) => parseCertificate(certificate, file));
  return pem;
}

function parseCertificate(pem: string, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new FileUnusable(file, 'holds a PEM certificate that can not be parsed', { cause: error });
  }
}

function readPfxBytes(pfx: IdentitySettings['pfx']): Buffer {
  if ('base64' in pfx) return fromBase64(pfx.base64.read(), pfx.base64.variable);
  try {
    return readSmallFile(pfx.file, MAX_PFX_BYTES);
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    throw new PfxUnreadable(
      'file',
      `BANK_PFX_FILE names ${error.path}, which ${error.reason}. Give the path of the PFX (PKCS#12) file that the bank issued.`,
    );
  }
}

function fromBase64(text: string, variable: string): Buffer {
  const compact = text.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
    throw new PfxUnreadable('not-pfx', `${variable} is not base64 text. Make it with: base64 -w0 client.pfx`);
  }
  return Buffer.from(compact, 'base64');
}
