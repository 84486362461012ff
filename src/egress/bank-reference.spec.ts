import { describe, expect, it } from '@jest/globals';
import { readReference } from './bank-reference.js';

const UUID = '0b9e6c51-7a3d-4f7e-9c55-d1f0a2b3c4d5';
const W3C = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const IBAN = 'DE89370400440532013000';
const NONE = { bankCode: undefined, bankTraceId: undefined };

const read = (body: unknown, headers: Record<string, string> = {}, credentials: string[] = []) => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readReference({ status: 401, headers, body: bytes, credentials });
};

describe('the reference of a failed answer', () => {
  it.each<[string, unknown, string | undefined, string | undefined]>([
    [
      'a list of errors',
      { errors: [{ errorCode: 'ParseFailure', errorDescription: 'no' }] },
      'ParseFailure',
      undefined,
    ],
    ['a bare list', [{ errorCode: 'NotAllowed', errorText: 'no' }], 'NotAllowed', undefined],
    ['a flat object', { code: 'Locked', traceId: UUID }, 'Locked', UUID],
    ['problem details', { status: 401, errors: { pageSize: ['no'] }, traceId: W3C }, undefined, W3C],
    ['60 letters and 64 characters', { code: 'a'.repeat(60), traceId: 'a'.repeat(64) }, 'a'.repeat(60), 'a'.repeat(64)],
    ['16 characters', { traceId: 'abcdef0123456789' }, undefined, 'abcdef0123456789'],
  ])('is read from %s', (_name, body, bankCode, bankTraceId) => {
    expect(read(body)).toEqual({ bankCode, bankTraceId });
  });

  it.each([
    ['x-request-id', UUID, UUID],
    ['x-correlation-id', UUID, UUID],
    ['x-amzn-trace-id', UUID, UUID],
    ['x-amzn-trace-id', 'Root=1-67891233-abcdef012345678912345678', undefined],
    ['traceparent', W3C, '4bf92f3577b34da6a3ce929d0e0e4736'],
    ['traceparent', `00-${IBAN}-00f067aa0ba902b7-00`, undefined],
    ['x-request-id', `${UUID}, ${UUID}`, undefined],
    ['x-other', UUID, undefined],
  ])('has the trace id of %s: %s', (name, value, bankTraceId) => {
    expect(read('<html>', { [name]: value })).toEqual({ ...NONE, bankTraceId });
  });

  it.each([
    ['the token', { traceId: W3C }, [W3C]],
    ['a part of the token', { traceId: UUID }, [`opaque-${UUID}`]],
    ['the password', { code: 'swordfish' }, ['m2m', 'swordfish']],
    ['a text with the password', { code: 'BadPasswordswordfish' }, ['m2m', 'swordfish']],
    ['the password in capitals', { code: 'SWORDFISH' }, ['m2m', 'swordfish']],
    ['a short user name', { code: 'ada' }, ['ada', 'swordfish']],
  ])('is nothing of what we sent: %s', (_name, body, credentials) => {
    expect(read(body, {}, credentials)).toEqual(NONE);
    expect(read(body)).not.toEqual(NONE);
    // the negative case: a code that has the short user name in it
    expect(read({ code: 'Invadad' }, {}, credentials)).toEqual({ ...NONE, bankCode: 'Invadad' });
  });

  it.each<[string, unknown]>([
    ['a word with digits', { code: 'Konto4711', errorCode: 'E1001' }],
    ['a sentence', { code: 'Not allowed', errorCode: 'wrong_password' }],
    ['61 letters', { code: 'a'.repeat(61) }],
    ['15 characters', { traceId: 'abcdef012345678' }],
    ['65 characters', { traceId: 'a'.repeat(65) }],
    ['an IBAN', { code: IBAN, traceId: IBAN }],
    ['an IBAN in groups', { traceId: 'de89-3704-0044-0532-0130-00' }],
    ['an IBAN among others', { traceId: `00-${IBAN}-00` }],
    ['an account number', { traceId: '00370400440532013000' }],
    ['a token', { code: 'eyJhbGciOiJSUzI1NiJ9', traceId: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtMm0ifQ.c2ln' }],
    ['base64', { traceId: 'bTJtOmh1bnRlcjI6cGFzc3dvcmQ=' }],
    ['other types', { code: 401, errorCode: ['Locked'], traceId: { id: UUID }, errors: 'Locked' }],
    ['other keys', { Code: 'Locked', error: 'Locked', message: 'Locked', id: UUID, detail: { code: 'Locked' } }],
    ['a line end', { code: 'Locked\n', traceId: `${UUID}\n` }],
    ['no object', '"Locked"'],
    ['null', 'null'],
    ['broken JSON', '{"code":"Locked"'],
    ['nested 20 000 deep', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['more than 64 KB', JSON.stringify({ code: 'Locked' }).padEnd(65_537)],
  ])('is nothing of %s', (_name, body) => {
    expect(read(body)).toEqual(NONE);
  });
});
