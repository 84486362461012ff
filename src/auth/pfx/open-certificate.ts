import { getCACertificates } from 'node:tls';
import { ContentsUnusable, toCertificates, toPfx, toPrivateKeys } from '../../config/certificate-files.js';
import { CertificateUnreadable, describeSlip } from './certificate-unreadable.js';
import { toClientCertificate, type ClientCertificate, type KeysAndCertificates } from './client-certificate.js';
import { readPfx } from './read-pfx.js';

/** The files of a client certificate, and what it is checked against. */
export interface CertificateRequest {
  readonly source:
    | { readonly kind: 'pfx'; readonly bytes: Buffer; readonly passcode: string }
    | { readonly kind: 'pem'; readonly chain: Buffer; readonly key: Buffer; readonly passphrase: string };
  /** PEM of the roots that may complete the chain; null for the runtime's own. */
  readonly roots: readonly string[] | null;
  readonly now: Date;
}

const DEADLINE_MS = 35_000;

/**
 * Reads key, certificate and chain from a PFX or PEM files, in at most 35 s. Callers are not held up: key derivation runs in
 * Node's thread pool or in time slices. When `signal` aborts, it rejects with the reason.
 * @throws CertificateUnreadable
 */
export async function openCertificate(
  { source, roots, now }: CertificateRequest,
  signal?: AbortSignal,
): Promise<ClientCertificate> {
  const contents = source.kind === 'pfx' ? await openPfx(source, signal) : openPem(source);
  return toClientCertificate(contents, now, roots ?? getCACertificates('default'));
}

async function openPfx(
  { bytes, passcode }: CertificateRequest['source'] & { readonly kind: 'pfx' },
  signal?: AbortSignal,
): Promise<KeysAndCertificates> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    const pfx = named('It', () => toPfx(bytes));
    return await readPfx(pfx, passcode, signal ? AbortSignal.any([signal, deadline]) : deadline);
  } catch (error) {
    if (error !== deadline.reason) throw error;
    throw new CertificateUnreadable(
      'damaged',
      `The PFX takes more than ${DEADLINE_MS / 1000} s to open.`,
      'Check where the file comes from: it may be damaged. Or export it again with -iter 100000.',
    );
  }
}

function openPem({ chain, key, passphrase }: CertificateRequest['source'] & { readonly kind: 'pem' }) {
  const keys = named('The key file', () => toPrivateKeys(key, passphrase), passphrase);
  return { keys, certificates: named('The certificate file', () => toCertificates(chain)) };
}

/** @throws CertificateUnreadable for contents that cannot be used */
function named<T>(file: string, read: () => T, passphrase = ''): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof ContentsUnusable)) throw cause;
    const { reason, is, remedy } = cause;
    const check = 'Check BANK_KEY_PASSPHRASE or BANK_KEY_PASSPHRASE_FILE';
    const todo = reason === 'passcode' ? `${check}, or ${remedy}` : toSentence(remedy);
    throw new CertificateUnreadable(reason, `${file} ${is}.${describeSlip(passphrase)}`, `${todo}.`, { cause });
  }
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
