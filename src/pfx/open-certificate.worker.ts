import { getCACertificates } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { toClientCertificate } from './client-certificate.js';
import type { CertificateReply, CertificateRequest } from './open-certificate.js';
import { readPem } from './read-pem.js';
import { readPfx } from './read-pfx.js';

function open({ source, roots, now }: CertificateRequest): CertificateReply {
  try {
    const contents =
      source.kind === 'pfx'
        ? readPfx(Buffer.from(source.bytes), source.passcode)
        : readPem(Buffer.from(source.chain), Buffer.from(source.key), source.passphrase);
    return { certificate: toClientCertificate(contents, now, roots ?? getCACertificates('default')) };
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    const { reason, problem, remedy } = error;
    return { refusal: { reason, problem, remedy } };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, no window
parentPort?.postMessage(open(workerData as CertificateRequest));
