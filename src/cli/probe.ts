import { once } from 'node:events';
import { request as requestPlainly, type IncomingMessage } from 'node:http';
import { request as requestSecurely, type RequestOptions } from 'node:https';
import { FileUnusable, readSmallFile } from '../config/small-file.js';
import { EXIT } from './exit.js';

/** Shorter than the timeout of the image's HEALTHCHECK, so that Docker shows the reason. */
const TIMEOUT_MS = 4000;
/** A gateway that listens on any address also listens on this one. */
const LOOPBACK = '127.0.0.1';
const ANY_ADDRESS = new Set(['', '0.0.0.0', '::']);

/** The settings that say where the gateway listens. */
type Environment = Readonly<Partial<Record<'HOST' | 'PORT' | 'TLS_CERT_FILE', string>>>;

/**
 * Asks the gateway that runs with this environment for /health/live, as HEALTHCHECK in the Dockerfile does. Over HTTPS it accepts
 * only the certificate in TLS_CERT_FILE. Returns the exit code; writes one line if the gateway does not answer with 200.
 */
export async function probe(
  environment: Environment,
  stderr: Pick<NodeJS.WritableStream, 'write'>,
  timeoutMs = TIMEOUT_MS,
): Promise<number> {
  const { HOST: listensOn = '', TLS_CERT_FILE: certFile } = environment;
  const port = environment.PORT || '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    stderr.write('accounts-gateway probe: PORT must be a whole number from 0 to 65535\n');
    return EXIT.internalError;
  }
  const host = ANY_ADDRESS.has(listensOn) ? LOOPBACK : listensOn;
  const address = `${certFile ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}/health/live`;
  const options = { host, port, path: '/health/live', agent: false } as const;
  try {
    const call = certFile ? requestSecurely({ ...options, ...trustOnly(certFile) }) : requestPlainly(options);
    call.setTimeout(timeoutMs, () => call.destroy(new Error(`no response within ${timeoutMs} ms`)));
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    if (response.statusCode === 200) return EXIT.stopped;
    stderr.write(`accounts-gateway probe: ${address} answered ${response.statusCode}\n`);
  } catch (error) {
    const reason = error instanceof FileUnusable ? `TLS_CERT_FILE ${error.problem}` : (error as Error).message;
    stderr.write(`accounts-gateway probe: ${address} does not answer: ${reason}\n`);
  }
  return EXIT.internalError;
}

/** The certificate itself is trusted, whoever signed it; it may be for another name than the address that is asked. */
const trustOnly = (certFile: string): RequestOptions => ({
  ca: readSmallFile(certFile),
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
});
