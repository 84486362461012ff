import type { LoggerService } from '@nestjs/common';
import type { Level, Logger } from 'pino';

/** Writes the lines of Nest and its modules through our logger, each with its Nest context. */
export class NestLogger implements LoggerService {
  readonly verbose = this.#writer('trace');
  readonly debug = this.#writer('debug');
  readonly log = this.#writer('info');
  readonly warn = this.#writer('warn');
  readonly error = this.#writer('error');
  readonly fatal = this.#writer('fatal');

  constructor(private readonly logger: Logger) {}

  /** Nest passes the context last. A stack before it is omitted: it begins with a message, which may quote data. */
  #writer(level: Level) {
    return (message: unknown, ...more: unknown[]): void => {
      const last = more.at(-1);
      const context = typeof last === 'string' ? last : undefined;
      if (typeof message === 'string') this.logger[level]({ context }, message);
      else this.logger[level]({ context, err: message }, 'an error');
    };
  }
}
