import { pino, type Logger, type LoggerOptions } from 'pino';

export interface LogDestination {
  write(line: string): unknown;
  /** Calls back once everything is written or has failed. */
  flush?(done: () => void): void;
}

interface LogOptions {
  readonly level: string;
  /** Formats a line for people on a terminal; false for one JSON object per line. */
  readonly pretty: false | ((line: string) => string);
  readonly destination: LogDestination;
}

type LineListener = (level: string, fields: Readonly<Record<string, unknown>>, msg: unknown) => void;

const INFO = pino.levels.values['info'] as number;

/** Writes the log (docs/logs.md#events). An error is reduced to names, codes and stack: the rest may have a secret. */
export class Log {
  readonly logger: Logger;
  /** For the line of each request, which listeners do not receive. */
  readonly requests: Logger;
  readonly #listeners: LineListener[] = [];

  constructor({ level, pretty, destination }: LogOptions) {
    const leastWritten = pino.levels.values[level] ?? Infinity;
    const listeners = this.#listeners;
    const lines: LogDestination = pretty
      ? { write: (line) => destination.write(pretty(line)), flush: (done) => destination.flush?.(done) }
      : destination;
    const options: LoggerOptions = {
      level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
    };
    // its lines carry no errors
    this.requests = pino(options, lines);
    this.logger = pino(
      {
        ...options,
        serializers: { err: toLoggedError },
        // pino calls its hook only for enabled levels
        level: leastWritten > INFO ? 'info' : level,
        hooks: {
          logMethod(args, method, level) {
            const [first, ...rest]: unknown[] = args;
            if (isFields(first)) {
              for (const listener of listeners) listener(pino.levels.labels[level] ?? '', first, rest[0]);
            }
            if (level < leastWritten) return;
            // without a message, pino uses the message of the error, which may quote data
            const line = rest.length === 0 && carriesError(first) ? [first, 'an error'] : args;
            method.apply(this, line as typeof args);
          },
        },
      },
      lines,
    );
  }

  /** Calls `listener` with all lines with fields from `info` up, logged or not, and with logged ones below that. */
  listen(listener: LineListener): void {
    this.#listeners.push(listener);
  }
}

/** The time of a line, formatted once per millisecond. */
function createTimestamp(): () => string {
  let [formattedAt, text] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== formattedAt) [formattedAt, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
}

const isFields = (first: unknown): first is Record<string, unknown> => typeof first === 'object' && first !== null;

const carriesError = (first: unknown): boolean => first instanceof Error || (isFields(first) && 'err' in first);

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
