import { pino, type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { standardOutput } from './standard-output.js';

/** The process's logger as it is injected; rooms take `logger`, pino's own. */
export class Log {
  constructor(readonly logger: Logger) {}
}

export interface LoggingOptions {
  readonly level: string;
  /** For people on a terminal, else one JSON object a line. */
  readonly pretty: boolean;
  /** Where lines go; standard output when missing. */
  readonly destination?: DestinationStream;
}

/**
 * Logs as docs/operations.md#logs has them. What goes in is chosen field by field where it is logged; an error is reduced to names,
 * codes and stack, since whatever else hangs on it may hold a secret.
 */
export function createLogger({ level, pretty: forPeople, destination }: LoggingOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: toTimeField(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: toLoggedError },
      hooks: {
        logMethod(args, method) {
          const [first, ...rest]: unknown[] = args;
          // where no message is given, pino takes that of the error, which may quote data
          const line = rest.length === 0 && carriesError(first) ? [first, 'an error'] : args;
          method.apply(this, line as typeof args);
        },
      },
    },
    forPeople
      ? pretty({ ignore: 'event', singleLine: true, ...(destination && { destination }) })
      : (destination ?? standardOutput()),
  );
}

/** The time of a line; many lines have the same. */
function toTimeField(): () => string {
  let ms = 0;
  let field = '';
  return () => {
    const now = Date.now();
    if (now !== ms) {
      ms = now;
      field = `,"time":"${new Date(now).toISOString()}"`;
    }
    return field;
  };
}

function carriesError(first: unknown): boolean {
  return first instanceof Error || (typeof first === 'object' && first !== null && 'err' in first);
}

function toLoggedError(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const { code } = thrown as NodeJS.ErrnoException;
  return {
    name: thrown.name,
    ...(typeof code === 'string' && { code }),
    // a stack begins with the message, which may quote data
    stack: thrown.stack
      ?.replace(thrown.message, '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 12)
      .join('\n'),
    ...(thrown.cause !== undefined && { cause: toLoggedError(thrown.cause) }),
  };
}
