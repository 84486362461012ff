import type { Logger } from 'pino';
import { createLogger } from '../../src/logging/logging.js';

type LoggedLine = Readonly<Record<string, unknown>>;

/** The real logger, with what it writes kept for looking at. */
export function keepLines(): {
  readonly logger: Logger;
  readonly written: string[];
  lines(event?: string): LoggedLine[];
} {
  const written: string[] = [];
  const logger = createLogger({
    level: 'trace',
    pretty: false,
    destination: { write: (line) => void written.push(line) },
  });
  return {
    logger,
    written,
    lines: (event) =>
      written
        .map((line) => JSON.parse(line) as LoggedLine)
        .filter((line) => event === undefined || line['event'] === event),
  };
}
