import { getCACertificates } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { toClientCertificate } from './client-certificate.js';
import type { CertificateRequest } from './open-certificate.js';
import { readPem } from './read-pem.js';
import { readPfx } from './read-pfx.js';

const { source, roots, now } = workerData as CertificateRequest;
const contents =
  source.kind === 'pfx'
    ? readPfx(Buffer.from(source.bytes), source.passcode)
    : readPem(Buffer.from(source.chain), Buffer.from(source.key), source.passphrase);

// nothing is transferred
parentPort?.postMessage(toClientCertificate(contents, now, roots ?? getCACertificates('default')), []);
