import { stripVTControlCharacters } from 'node:util';
import { expect, it } from '@jest/globals';
import { toTerminalLine } from './terminal-lines.js';

const show = (fields: object) =>
  stripVTControlCharacters(
    toTerminalLine(JSON.stringify({ level: 'info', time: '2026-11-21T08:00:00.000Z', ...fields })),
  );

it('a terminal shows a request as one short line', () => {
  const request = {
    event: 'request',
    method: 'GET',
    status: 503,
    ms: 251.7,
    route: '/api/v1/accounts',
    code: 'bank-error',
    owner: 'bank',
    requestId: 'abe26a8f-3b8a-4f58-9f0a-9d24d74c755a',
    msg: 'request',
  };
  expect(show(request)).toMatch(/^\d\d:\d\d:\d\d GET 503 252 ms \/api\/v1\/accounts bank-error \[abe26a8f\]\n$/);
  expect(show({ ...request, method: null, route: null, code: undefined })).toMatch(/ - 503 252 ms - \[abe26a8f\]\n$/);
});

it('a terminal shows other events with message and fields', () => {
  expect(show({ event: 'snapshot.failed', code: 'bank-error', msg: 'the refresh failed' })).toMatch(
    /the refresh failed.*"code":"bank-error"/,
  );
});
