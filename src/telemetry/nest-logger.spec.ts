import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import { NestLogger } from './nest-logger.js';

afterEach(() => Logger.overrideLogger(['log', 'warn', 'error']));

describe('a log line of Nest', () => {
  it.each([
    ['verbose', 'trace'],
    ['debug', 'debug'],
    ['log', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
    ['fatal', 'fatal'],
  ] as const)('%s is logged as %s, with its context', (method, level) => {
    const { logger, lines } = keepLines();
    Logger.overrideLogger(new NestLogger(logger));
    new Logger('Quota')[method]('spent');
    expect(lines()).toMatchObject([{ level, context: 'Quota', msg: 'spent' }]);
  });

  it('contains neither message nor stack text of an error, because they may quote data', () => {
    const { logger, written, lines } = keepLines();
    Logger.overrideLogger(new NestLogger(logger));
    const error = new TypeError('hunter2');
    new Logger('Quota').error(error);
    new Logger('Quota').error('it failed', error.stack);
    expect(lines()).toMatchObject([
      { level: 'error', context: 'Quota', msg: 'an error', err: { name: 'TypeError' } },
      { level: 'error', context: 'Quota', msg: 'it failed' },
    ]);
    expect(written.join('')).not.toContain('hunter2');
  });
});
