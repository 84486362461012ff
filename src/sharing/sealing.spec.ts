import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { FleetKeys } from './fleet-keys.js';
import { open, openJson, PIECE_BYTES, Refused, seal, sealJson, type Facts } from './sealing.js';

const KEYS: FleetKeys = {
  name: 'fleet',
  keyId: 'aa',
  wrappingKey: randomBytes(32),
  context: ['https://b', 'https://a', 'me'],
};
const FACTS: Omit<Facts, 'bytes'> = {
  kind: 'snapshot',
  asOf: '2026-11-21T08:00:00.000Z',
  at: 1_795_000_000_000.5,
  durationMs: 12.25,
  fence: 7,
};
const MAX = 2 ** 31;

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Refused) return error.reason;
    throw error;
  }
  return 'opened';
}

function sealAll(content: Buffer): Buffer {
  const { header, pieces } = seal(content, FACTS, KEYS);
  return Buffer.concat([header, ...pieces]);
}

function openAll(sealed: Buffer, keys = KEYS, portion = 1000, kind: Facts['kind'] = 'snapshot'): Buffer {
  const opening = open(sealed, kind, keys, MAX);
  for (let at = opening.headerBytes; at < sealed.length; at += portion) opening.push(sealed.subarray(at, at + portion));
  return Buffer.from(opening.finish());
}

describe('sealed content', () => {
  it.each([0, 1, 15, 16, 17, 999, 1000, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES + 5])(
    'of %i bytes is opened as it was, in whatever portions it comes',
    (length) => {
      const content = randomBytes(length);
      const { header, pieces } = seal(content, FACTS, KEYS);
      const all = [...pieces];
      const sealed = Buffer.concat([header, ...all]);
      expect(openAll(sealed, KEYS, 777_777).equals(content)).toBe(true);
      expect(open(sealed, 'snapshot', KEYS, MAX).pieces).toBe(all.length);
      expect(open(sealed, 'snapshot', KEYS, MAX).facts).toMatchObject({ ...FACTS, bytes: length });
      if (length > 15) expect(sealed.includes(content.subarray(0, 16))).toBe(false);
    },
  );

  it('is sealed with another key each time', () => {
    const content = Buffer.alloc(64);
    expect(sealAll(content)).not.toEqual(sealAll(content));
  });

  it('is refused when any one byte of it was changed, or any number is missing at its end', () => {
    const sealed = sealAll(randomBytes(40));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      expect([at, reasonOf(() => openAll(changed))]).not.toEqual([at, 'opened']);
      expect(reasonOf(() => openAll(sealed.subarray(0, at)))).not.toBe('opened');
    }
    expect(reasonOf(() => openAll(Buffer.concat([sealed, Buffer.alloc(1)])))).toBe('damaged');
  });

  it.each([
    ['another key', { ...KEYS, wrappingKey: randomBytes(32) }],
    ['another key by name', { ...KEYS, keyId: 'bb' }],
    ['another bank', { ...KEYS, context: ['https://c', 'https://a', 'me'] }],
    ['another user', { ...KEYS, context: ['https://b', 'https://a', 'you'] }],
  ])('is foreign with %s', (_what, keys) => {
    const sealed = sealAll(randomBytes(40));
    expect(reasonOf(() => openAll(sealed, keys))).toBe('foreign');
    expect(reasonOf(() => openAll(sealed))).toBe('opened');
  });

  it('does not pass for another kind, another time, or another writer', () => {
    const sealed = sealAll(randomBytes(40));
    expect(reasonOf(() => openAll(sealed, KEYS, 1000, 'token'))).toBe('foreign');
    for (const [from, to] of [
      ['"fence":7', '"fence":8'],
      ['08:00:00', '09:00:00'],
      ['"durationMs":12', '"durationMs":13'],
      ['"bytes":40', '"bytes":41'],
    ] as const) {
      const altered = Buffer.from(sealed.toString('latin1').replace(from, to), 'latin1');
      expect(altered).not.toEqual(sealed);
      expect(reasonOf(() => openAll(altered))).not.toBe('opened');
    }
  });

  it('takes no tag that is shorter than 16 bytes, which Node would', () => {
    const key = randomBytes(32);
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12), { authTagLength: 4 });
    const short = Buffer.concat([cipher.update('x'), cipher.final(), cipher.getAuthTag()]);
    expect(short.length).toBe(5);
    const sealed = sealAll(Buffer.from('x'));
    expect(reasonOf(() => openAll(sealed.subarray(0, -12)))).toBe('damaged');
  });

  it('that claims to be larger than allowed is refused before anything is kept for it', () => {
    const sealed = sealAll(randomBytes(1000));
    expect(reasonOf(() => open(sealed, 'snapshot', KEYS, 999))).toBe('too-large');
  });

  it('is refused when it is noise', () => {
    for (let round = 0; round < 200; round += 1) {
      const noise = randomBytes(round * 13);
      if (round % 2 && noise.length > 4) noise.writeUInt32LE(Math.min(noise.length - 4, 2000), 0);
      expect(reasonOf(() => openAll(noise))).toBe('damaged');
    }
  });
});

describe('a small value', () => {
  const facts = { kind: 'wait', at: FACTS.at, fence: 7 } as const;
  const schema = z.object({ code: z.string() });

  it('is opened as it was, with what is known of it', () => {
    const { value, facts: known } = openJson(sealJson({ code: 'bank-timeout' }, facts, KEYS), 'wait', schema, KEYS);
    expect(value).toEqual({ code: 'bank-timeout' });
    expect(known).toMatchObject({ ...facts, asOf: new Date(FACTS.at).toISOString(), durationMs: 0 });
  });

  it('its twin: is damaged when it is not what it should be, or no JSON', () => {
    const other = sealJson({ code: 7 }, facts, KEYS);
    expect(reasonOf(() => openJson(other, 'wait', schema, KEYS))).toBe('damaged');
    expect(reasonOf(() => openJson(sealAll(Buffer.from('{')), 'snapshot', schema, KEYS))).toBe('damaged');
    expect(reasonOf(() => openJson(sealAll(Buffer.from('{}')), 'wait', schema, KEYS))).toBe('foreign');
  });
});
