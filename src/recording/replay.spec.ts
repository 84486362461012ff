import { describe, expect, it } from '@jest/globals';
import { recordedPage } from '../../test/support/recorded-page.js';
import { Replay } from './replay.js';

const replay = (body: string) =>
  new Replay({
    facts: { recording: 1, at: '', version: '', httpVersion: '1.1', tls: {} },
    exchanges: [recordedPage(body, { query: { PageNumber: '1', PageSize: '1000' } })],
  });

describe('a recorded token response', () => {
  const served = (body: string) =>
    new Replay({
      facts: { recording: 1, at: '', version: '', httpVersion: '1.1', tls: {} },
      exchanges: [recordedPage(body, { kind: 'token' })],
    }).token('issued', 300)?.body;

  it('contains the token of the sandbox', () => {
    expect(served('{"access_token":"masked","scope":1}')).toBe('{"access_token":"issued","scope":1}');
  });

  it.each([
    '{"accessToken":"masked"}',
    '{"access_token":""}',
    '{"access_token":5}',
    '[1]',
    'null',
    '"masked"',
    'Masked',
    '',
  ])('without a token stays without one: %s', (body) => {
    expect(served(body)).toBe(body);
  });
});

describe('the accounts of a recorded page', () => {
  it('are served at any page size, whatever is in their texts', () => {
    const accounts = ['{"a":"]}\\\\"}', '{"b":["\\"","{"]}', '{"c":{"d":[]}}'];
    const served = replay(`{"result": [${accounts.join(', ')}],"rowCount":3}`);
    expect(served.count).toBe(3);
    expect(served.page(2, 2, 3)?.body).toBe(`{"result":[${accounts[2]}],"rowCount":3}`);
  });

  it('are served without a count, if the bank counted nothing', () => {
    const served = replay('{"result":[{"a":1}],"pageInfo":{"pageSize":9,"rowCount":null}}');
    expect(served.page(1, 2, 1)?.body).toBe('{"result":[{"a":1}],"pageInfo":{"pageSize":2,"rowCount":null}}');
  });
});
