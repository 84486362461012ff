import { getCACertificates } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { toClientCertificate } from './client-certificate.js';
import type { PfxAnswer, PfxRequest } from './open-pfx.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { readPfx } from './read-pfx.js';

function answer({ bytes, passcode, names, roots, now }: PfxRequest): PfxAnswer {
  try {
    const contents = readPfx(Buffer.from(bytes), passcode, names);
    return { certificate: toClientCertificate(contents, now, roots ?? getCACertificates('default')) };
  } catch (error) {
    if (!(error instanceof PfxUnreadable)) throw error;
    return { refusal: { reason: error.reason, message: error.message } };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, no window
parentPort?.postMessage(answer(workerData as PfxRequest));
