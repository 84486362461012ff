import type { Logger } from 'pino';
import { SettingsInvalid } from '../config/settings-error.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';
import { SandboxNotStarted } from '../sandbox/listen.js';
import { describeErrors, EXIT } from './exit.js';

type SystemError = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };

/** Reports why the gateway could not start, once in the log and once for people; returns the exit code. */
export function reportFailedStart(stderr: NodeJS.WritableStream, logger: Logger, error: unknown): number {
  if (error instanceof SettingsInvalid) {
    const { errors, warnings } = error;
    logger.error({ event: 'config.invalid', errors, warnings }, 'the settings cannot be used');
    stderr.write(describeErrors(error));
    return EXIT.settings;
  }
  if (error instanceof CertificateUnreadable) {
    logger.fatal(
      { event: 'certificate.refused', code: 'certificate-unusable', owner: 'operator', reason: error.reason },
      error.message,
    );
    stderr.write(`${error.message}\n`);
    return EXIT.certificate;
  }
  const reason = error instanceof SandboxNotStarted ? error.message : explain(error as SystemError);
  if (reason !== null) {
    logger.fatal({ event: 'gateway.not-started' }, reason);
    stderr.write(`${reason}\n`);
  } else {
    const { name, code, path } = error as SystemError;
    const details = [error instanceof Error ? name : typeof error, code, path].filter((each) => each !== undefined);
    logger.fatal({ event: 'gateway.not-started', err: error }, 'could not start because of an internal error');
    stderr.write(
      `accounts-gateway could not start because of an internal error: ${details.join(' ')}. The log line shows where.\n`,
    );
  }
  return EXIT.internalError;
}

/** The operator's remedy for an error of the system; null for any other error. */
function explain({ code, syscall, hostname, address = hostname, port }: SystemError): string | null {
  if (code === 'ERR_WORKER_INIT_FAILED' || code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `A worker thread could not be started (${code}): allow this process more threads, open files or memory (ulimit -u, ulimit -n, the limits of its container).`;
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return `Too many open files (${code}): raise the limit of open files (ulimit -n, RLIMIT_NOFILE) to at least 256.`;
  }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return null;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${address} is taken (PORT, HOST): stop the program that uses it, or choose another with PORT=3001.`;
    case 'EACCES':
      return `This user may not open port ${port} (PORT): choose one above 1023.`;
    default:
      return `The gateway cannot listen on ${address} (HOST, ${code}): use an address of this machine, e.g. HOST=127.0.0.1.`;
  }
}
