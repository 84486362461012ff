import { once } from 'node:events';
import { request as requestPlainly, type IncomingMessage } from 'node:http';
import { request as requestSecurely, type RequestOptions } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { readCertificates } from '../files/certificate-files.js';
import { FileUnusable } from '../files/small-file.js';
import { EXIT } from './exit.js';
import type { Options } from './options.js';

/** Shorter than the timeout of the image's HEALTHCHECK, so that Docker shows the reason. */
const TIMEOUT_MS = 4000;
const RETRY_EVERY_MS = 250;
/** A gateway that listens on any address also listens on this one. */
const LOOPBACK = '127.0.0.1';
const ANY_ADDRESS = new Set(['', '0.0.0.0', '::']);

/** Calls the gateway that runs with this environment. Returns the exit code; writes one line if there is no 200. */
export async function probe(
  { env, stderr }: NodeJS.Process,
  { ready, wait = '0' }: Pick<Options, 'ready' | 'wait'>,
  timeoutMs = TIMEOUT_MS,
): Promise<number> {
  const path = ready ? '/health/ready' : '/health/live';
  const giveUpAt = performance.now() + Number(wait) * 1000;
  for (;;) {
    const problem = await ask(env, path, timeoutMs);
    if (problem === null) return EXIT.stopped;
    if (performance.now() + RETRY_EVERY_MS > giveUpAt) {
      stderr.write(`accounts-gateway probe: ${problem}\n`);
      return EXIT.internalError;
    }
    await delay(RETRY_EVERY_MS);
  }
}

/** Null for a 200, else the failure in words. */
async function ask(env: NodeJS.ProcessEnv, path: string, timeoutMs: number): Promise<string | null> {
  const { HOST: listensOn = '', PORT: port, TLS_CERT_FILE: certFile } = env;
  const host = ANY_ADDRESS.has(listensOn) ? LOOPBACK : listensOn;
  const url = `${certFile ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port || '3000'}${path}`;
  if (!URL.canParse(url)) return `${url} is no address; correct HOST or PORT`;
  const options = { agent: false };
  try {
    const call = certFile ? requestSecurely(url, { ...options, ...trustOnly(certFile) }) : requestPlainly(url, options);
    call.setTimeout(timeoutMs, () => call.destroy(new Error(`no response within ${timeoutMs} ms`)));
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode === 200 ? null : `${url} answered ${response.statusCode}`;
  } catch (error) {
    const reason = error instanceof FileUnusable ? `TLS_CERT_FILE ${error.problem}` : (error as Error).message;
    return `${url} does not answer: ${reason}`;
  }
}

/** Trusts only the certificates in this file, whoever signed them, even if they do not name the address of the request. */
const trustOnly = (certFile: string): RequestOptions => ({
  ca: readCertificates(certFile).pem,
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
});
