import type { Logger } from 'pino';
import { Log } from '../../src/telemetry/log.js';

export type LogLine = Readonly<Record<string, unknown>>;

/** The real logger, which also records its lines. */
export function keepLines(): {
  readonly log: Log;
  readonly logger: Logger;
  readonly written: string[];
  lines(event?: string): LogLine[];
} {
  const written: string[] = [];
  const log = new Log({
    level: 'trace',
    pretty: false,
    destination: { write: (line) => void written.push(line) },
  });
  return {
    log,
    logger: log.logger,
    written,
    lines: (event) =>
      written
        .map((line) => JSON.parse(line) as LogLine)
        .filter((line) => event === undefined || line['event'] === event),
  };
}
