import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';

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
 * Logs as contract §7 has them. What goes in is chosen field by field where it is logged; an error is reduced to names,
 * codes and stack, since whatever else hangs on it may hold a secret.
 */
export function createLogger({ level, pretty: forPeople, destination }: LoggingOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
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

/** Standard output, written in the background. When it is gone, so are the log lines: the service goes on without. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false });
  let told = false;
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (told) return;
    told = true;
    process.stderr.write(
      `accounts-gateway: standard output can not be written (${error.code}); going on without log lines\n`,
    );
  });
  return output;
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
