import { AxiosError, AxiosHeaders } from 'axios';
import { describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import { toTerminalLine } from './terminal-lines.js';
import { Log } from './log.js';
import { GatewayError } from '../errors/gateway-error.js';

/** An error as axios throws it: the whole call is attached, and its message may quote it. */
function loadedError(): Error {
  const headers = new AxiosHeaders({ Authorization: 'Basic hunter2' });
  const config = {
    headers,
    auth: { username: 'u', password: 'hunter2' },
    httpsAgent: { options: { passphrase: 'hunter2' } },
  };
  const response = { status: 401, statusText: 'hunter2', headers: {}, config, data: { access_token: 'hunter2' } };
  return new AxiosError('hunter2', 'ERR_BAD_REQUEST', config, { path: '/hunter2' }, response);
}

describe('a log line', () => {
  it.each(['trace', 'fatal'] as const)('of %s is one JSON object with time, level, message and event', (level) => {
    const { logger, written } = keepLines();
    logger[level]({ event: 'token.failed', n: 1 }, 'no\ntoken');
    expect(written).toEqual([expect.stringMatching(/^\{.*\}\n$/)]);
    const { time, ...line } = JSON.parse(written[0] ?? '') as Record<string, unknown>;
    expect(line).toEqual({ level, event: 'token.failed', n: 1, msg: 'no\ntoken' });
    expect(new Date(String(time)).toISOString()).toBe(time);
  });

  it('below the level is not written', () => {
    const written: string[] = [];
    new Log({ level: 'info', pretty: false, destination: { write: (line) => void written.push(line) } }).logger.debug(
      'x',
    );
    expect(written).toEqual([]);
  });
});

describe('an error in a log line', () => {
  const ways: [string, (error: Error) => unknown[]][] = [
    ['as a field, with a message', (err) => [{ event: 'request.failed', err }, 'our fault']],
    ['as a field alone', (err) => [{ event: 'request.failed', err }]],
    ['bare', (err) => [err]],
    ['bare, with a message', (err) => [err, 'our fault']],
    ['as a cause', (cause) => [{ err: new Error('hunter2', { cause }) }, 'x']],
    ['as the cause of our own error', (cause) => [{ err: new GatewayError('internal-error', 'x', { cause }) }]],
  ];

  it.each(ways)(
    'that is passed as %s shows neither its message nor its properties, also on a terminal',
    (_name, toArguments) => {
      let shown = '';
      const destination = { write: (line: string) => void (shown += line) };
      for (const pretty of [false, toTerminalLine] as const) {
        const { logger } = new Log({ level: 'info', pretty, destination });
        logger.error(...(toArguments(loadedError()) as [object, string]));
      }
      expect(shown).toMatch(/^\{"level":"error".*\n.*ERROR/);
      expect(shown).not.toContain('hunter2');
    },
  );

  it('is treated the same way by a child logger', () => {
    const { logger, written } = keepLines();
    logger.child({ context: 'Nest' }).error({ err: loadedError() });
    expect(written.join('')).not.toContain('hunter2');
  });

  it('shows its class, code and location, and those of its cause', () => {
    const { logger, lines } = keepLines();
    logger.error({ err: new TypeError('outer', { cause: loadedError() }) }, 'x');
    expect(lines()[0]?.['err']).toEqual({
      name: 'TypeError',
      stack: expect.stringMatching(/^ {4}at .*log\.spec/),
      cause: { name: 'AxiosError', code: 'ERR_BAD_REQUEST', stack: expect.stringMatching(/^ {4}at /) },
    });
  });

  it('shows no line of its message that looks like a stack frame', () => {
    const { logger, written } = keepLines();
    logger.error({ err: new Error('first\n    at hunter2 (password)') }, 'x');
    expect(written.join('')).not.toContain('hunter2');
  });

  it('shows only the type of a thrown value that is not an Error', () => {
    const { logger, lines } = keepLines();
    logger.error({ err: 'hunter2' }, 'x');
    expect(lines()[0]?.['err']).toEqual({ name: 'string' });
  });
});
