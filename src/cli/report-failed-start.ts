import type { Logger } from 'pino';
import { whereSettingsAre } from '../config/env-file.js';
import { SettingsInvalid } from '../config/settings-error.js';
import { withOwner } from '../errors/problem-table.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';
import { FileUnusable } from '../files/small-file.js';
import { SandboxNotStarted } from '../sandbox/listen.js';
import { EXIT } from './exit.js';

type SystemError = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };

/**
 * Reports why a start failed, in the log and for people; only once if both go to the terminal. Returns the exit code.
 * @throws an unexpected error if there is no log
 */
export function reportFailedStart({ stdout, stderr }: NodeJS.Process, log: Logger | null, error: unknown): number {
  const onTerminal = stdout.isTTY && stderr.isTTY;
  const logger = onTerminal ? null : log;
  if (error instanceof SettingsInvalid) {
    const { errors, warnings } = error;
    logger?.error({ event: 'config.invalid', errors, warnings }, 'the settings cannot be used');
    stderr.write(describeErrors(error));
    return EXIT.settings;
  }
  if (error instanceof CertificateUnreadable) {
    logger?.fatal(
      { event: 'certificate.refused', ...withOwner('certificate-unusable'), reason: error.reason },
      error.message,
    );
    stderr.write(`${error.message}\n`);
    return EXIT.certificate;
  }
  const reason = error instanceof SandboxNotStarted ? error.message : explain(error as SystemError);
  if (reason !== null) {
    logger?.fatal({ event: 'gateway.not-started' }, reason);
    stderr.write(`${reason}\n`);
    // --replay is an option, as wrong as a setting
    if ((error as Error).cause instanceof FileUnusable) return EXIT.settings;
  } else if (!log) {
    throw error;
  } else {
    const message = 'could not start because of an internal error';
    // the log line has the stack trace, so a terminal shows only the log line
    log.fatal({ event: 'gateway.not-started', err: error }, message);
    if (!onTerminal) stderr.write(`accounts-gateway ${message}. The log line shows where.\n`);
  }
  return EXIT.internalError;
}

/** All settings errors for people, one per line: the variable, the reason, an example. */
function describeErrors(invalid: SettingsInvalid): string {
  const { errors, warnings, inProduction } = invalid;
  const lines = errors.map(({ variable, problem, example }) => `  ${variable} ${problem}, e.g. ${example}`);
  const toTry = inProduction ? '' : ' To try it without a bank: npm start';
  const hints = warnings.map((warning) => `  (${warning})`);
  return `The settings cannot be used:\n${[...lines, ...hints].join('\n')}\nCorrect them in ${whereSettingsAre()}. docs/settings.md lists them all.${toTry}\n`;
}

/** The operator's remedy if the gateway cannot listen; null for any other error. */
function explain({ code, syscall, hostname, address = hostname, port }: SystemError): string | null {
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return null;
  if (code === 'EADDRINUSE') {
    return `Port ${port} on ${address} is taken (PORT, HOST): stop the program that uses it, or choose another with PORT=${port === 3001 ? 3002 : 3001}, or any free one with PORT=0.`;
  }
  return `The gateway cannot listen (HOST=${address}, PORT=${port ?? 'any'}, ${code}): use an address of this machine and a port above 1023.`;
}
