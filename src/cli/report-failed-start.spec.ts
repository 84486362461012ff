import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';
import { FileUnusable } from '../files/small-file.js';
import { SandboxNotStarted } from '../sandbox/listen.js';
import { reportFailedStart } from './report-failed-start.js';

const systemError = (fields: object) => Object.assign(new Error('secret'), fields);

it.each<[string, Error, number, string]>([
  [
    'a port that is taken',
    systemError({ code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 3000 }),
    1,
    'Port 3000 on 127.0.0.1',
  ],
  ['a low port', systemError({ code: 'EACCES', syscall: 'listen', port: 80 }), 1, 'a port above 1023'],
  [
    'an unknown host',
    systemError({ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'nowhere' }),
    1,
    'HOST=nowhere, PORT=any, ENOTFOUND',
  ],
  ['an unforeseen error', new TypeError('secret'), 1, 'an internal error. The log line shows where.'],
  [
    'a --replay file that is not a recording',
    new SandboxNotStarted('--replay: x is not a recording.', { cause: new FileUnusable('x', 'is not a recording') }),
    2,
    'x is not a recording.',
  ],
  [
    'a wrong passcode',
    new CertificateUnreadable('passcode', 'The passcode is wrong.', 'Set it.'),
    3,
    'The passcode is wrong.',
  ],
])('%s is reported in one line, with its exit code', (_name, error, exitCode, text) => {
  let [shown, logged] = ['', ''];
  const write = (chunk: string) => (shown += chunk);
  const at = (isTTY: boolean) => ({ stdout: { isTTY }, stderr: { isTTY, write } }) as unknown as NodeJS.Process;
  const logger = pino({ serializers: { err: () => 'an error' } }, { write: (line) => void (logged += line) });
  expect(reportFailedStart(at(false), logger, error)).toBe(exitCode);
  expect(shown).toContain(text);
  expect(shown.trim().split('\n')).toHaveLength(1);
  expect(shown + logged).not.toContain('secret');
  expect(logged).toMatch(/"event":"(gateway.not-started|certificate.refused)"/);

  [shown, logged] = ['', ''];
  expect(reportFailedStart(at(true), logger, error)).toBe(exitCode);
  expect((shown + logged).trim().split('\n')).toHaveLength(1);
});
