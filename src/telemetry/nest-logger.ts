import type { LoggerService } from '@nestjs/common';
import type { Level, Logger } from 'pino';

/** Writes the lines of Nest and of its modules through our logger, each with the part of Nest that it comes from. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  verbose(message: unknown, ...more: unknown[]): void {
    this.#write('trace', message, more);
  }

  debug(message: unknown, ...more: unknown[]): void {
    this.#write('debug', message, more);
  }

  log(message: unknown, ...more: unknown[]): void {
    this.#write('info', message, more);
  }

  warn(message: unknown, ...more: unknown[]): void {
    this.#write('warn', message, more);
  }

  error(message: unknown, ...more: unknown[]): void {
    this.#write('error', message, more);
  }

  fatal(message: unknown, ...more: unknown[]): void {
    this.#write('fatal', message, more);
  }

  /** Nest passes the context last. A stack before it is left out: it begins with a message, which may quote data. */
  #write(level: Level, message: unknown, more: readonly unknown[]): void {
    const last = more.at(-1);
    const context = typeof last === 'string' ? last : undefined;
    if (typeof message === 'string') this.logger[level]({ context }, message);
    else this.logger[level]({ context, err: message }, 'an error');
  }
}
