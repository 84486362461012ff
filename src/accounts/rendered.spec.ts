import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { Rendered } from './rendered.js';

const LARGE = JSON.stringify({ text: 'Zürich €'.repeat(500) });

describe('an answer that is ready', () => {
  it('is its bytes in UTF-8', async () => {
    const rendered = new Rendered('{"a":"€"}', 'x');
    expect(rendered.bytes).toBe(11);
    expect(await rendered.as('identity')).toEqual({ encoding: 'identity', body: Buffer.from('{"a":"€"}') });
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is the same after %s', async (encoding, decompress) => {
    const packed = await new Rendered(LARGE, 'x').as(encoding);
    expect(packed.encoding).toBe(encoding);
    expect(packed.body.length).toBeLessThan(LARGE.length / 2);
    expect(decompress(packed.body).toString()).toBe(LARGE);
  });

  it('is compressed once, however many want it', async () => {
    const rendered = new Rendered(LARGE, 'x');
    const [first, second] = await Promise.all([rendered.as('br'), rendered.as('br')]);
    expect(second.body).toBe(first.body);
    expect((await rendered.as('br')).body).toBe(first.body);
  });

  it('is left as it is when it is small', async () => {
    const body = 'x'.repeat(1023);
    expect((await new Rendered(body, 'x').as('gzip')).encoding).toBe('identity');
    expect((await new Rendered(`${body}x`, 'x').as('gzip')).encoding).toBe('gzip');
  });
});

describe('its tag', () => {
  it('is weak, and proper (RFC 9110 §8.8.3)', () => {
    expect(new Rendered('body', 'data').etag).toMatch(/^W\/"[\x21\x23-\x7e]+"$/);
  });

  it('stands for the data, whatever else is in the body', () => {
    const at = (asOf: string) => new Rendered(`{"data":1,"asOf":"${asOf}"}`, '{"data":1}').etag;
    expect(at('2026-11-21T08:00:00.000Z')).toBe(at('2026-11-21T09:00:00.000Z'));
  });

  it('changes with the data', () => {
    expect(new Rendered('body', 'data').etag).not.toBe(new Rendered('body', 'other data').etag);
  });
});
