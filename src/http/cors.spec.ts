import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { Cors, createOriginCheck } from './cors.js';

const TREASURY = 'https://treasury.example';
const cors = new Cors([TREASURY, 'https://other.example']);

const OTHERS = [
  'https://evil.example',
  'null',
  '',
  'https://treasury.example.evil.example',
  'https://TREASURY.example',
  'https://treasury.example/',
  'https://treasury.example:8443',
  'http://treasury.example',
  `${TREASURY}, https://other.example`,
];

const added = (origin: string, to = cors) => to.headersFor(origin);

describe('an answer to a call', () => {
  it('from a listed origin is for it alone, with our own headers exposed', () => {
    const { 'access-control-expose-headers': exposed, ...others } = added(TREASURY);
    expect(others).toEqual({ 'access-control-allow-origin': TREASURY });
    expect(String(exposed).split(', ').sort()).toEqual([
      'Age',
      'Cache-Status',
      'Content-Disposition',
      'ETag',
      'Retry-After',
      'Snapshot-As-Of',
      'Snapshot-Complete',
      'Snapshot-Stale',
      'X-Request-Id',
    ]);
  });

  it.each(OTHERS)('does not allow %j', (origin) => {
    expect(added(origin)).toEqual({});
  });

  it('allows no origin if none is listed', () => {
    expect(added(TREASURY, new Cors([]))).toEqual({});
  });
});

describe('origins of this machine', () => {
  const isLocal = createOriginCheck(['http://localhost:*', 'http://127.0.0.1:*']);

  it.each(['http://localhost:5173', 'http://127.0.0.1:1', 'http://localhost', 'http://127.0.0.1:65535'])(
    'hold %s',
    (origin) => expect(isLocal(origin)).toBe(true),
  );

  it.each([
    'https://localhost:5173',
    'http://localhost:5173.evil.example',
    'http://localhost.evil.example:5173',
    'http://localhost:123456',
    'http://localhost:*',
    'http://127.0.0.2:5173',
    'http://[::1]:5173',
    'http://LOCALHOST:5173',
    'null',
    '',
    undefined,
  ])('do not hold %s', (origin) => expect(isLocal(origin)).toBe(false));
});

describe('a preflight', () => {
  it('is an OPTIONS that names origin and method', () => {
    const named = { origin: TREASURY, 'access-control-request-method': 'GET' };
    expect(cors.isPreflight(named)).toBe(true);
    expect(cors.isPreflight({ origin: TREASURY })).toBe(false);
    expect(cors.isPreflight({ 'access-control-request-method': 'GET' })).toBe(false);
  });

  it('from a listed origin lists what it may send', () => {
    expect(cors.preflightHeaders({ origin: TREASURY })).toMatchObject({
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent',
    });
  });

  it.each(OTHERS)('from %j is refused', async (origin) => {
    expect((await refusalOf(() => cors.preflightHeaders({ origin }))).code).toBe('client-not-allowed');
  });
});
