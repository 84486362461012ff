import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { FleetKeys } from './fleet-keys.js';
import { open, openSmall, PIECE_BYTES, Refused, seal, sealSmall, type Facts } from './sealing.js';

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

function openAll(sealed: Buffer, keys = KEYS, portion = 1000): Buffer {
  const opening = open(sealed, 'snapshot', keys, MAX);
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
    expect(sealSmall(content, FACTS, KEYS)).not.toEqual(sealSmall(content, FACTS, KEYS));
  });

  it('is refused when any one byte of it was changed, or any number is missing at its end', () => {
    const sealed = sealSmall(randomBytes(40), FACTS, KEYS);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      expect([at, reasonOf(() => openSmall(changed, 'snapshot', KEYS))]).not.toEqual([at, 'opened']);
      expect(reasonOf(() => openSmall(sealed.subarray(0, at), 'snapshot', KEYS))).not.toBe('opened');
    }
    expect(reasonOf(() => openAll(Buffer.concat([sealed, Buffer.alloc(1)])))).toBe('damaged');
  });

  it.each([
    ['another key', { ...KEYS, wrappingKey: randomBytes(32) }],
    ['another key by name', { ...KEYS, keyId: 'bb' }],
    ['another bank', { ...KEYS, context: ['https://c', 'https://a', 'me'] }],
    ['another user', { ...KEYS, context: ['https://b', 'https://a', 'you'] }],
  ])('is foreign with %s', (_what, keys) => {
    const sealed = sealSmall(randomBytes(40), FACTS, KEYS);
    expect(reasonOf(() => openSmall(sealed, 'snapshot', keys))).toBe('foreign');
    expect(reasonOf(() => openSmall(sealed, 'snapshot', KEYS))).toBe('opened');
  });

  it('does not pass for another kind, another time, or another writer', () => {
    const sealed = sealSmall(randomBytes(40), FACTS, KEYS);
    expect(reasonOf(() => openSmall(sealed, 'token', KEYS))).toBe('foreign');
    for (const [from, to] of [
      ['"fence":7', '"fence":8'],
      ['08:00:00', '09:00:00'],
      ['"durationMs":12', '"durationMs":13'],
      ['"bytes":40', '"bytes":41'],
    ] as const) {
      const altered = Buffer.from(sealed.toString('latin1').replace(from, to), 'latin1');
      expect(altered).not.toEqual(sealed);
      expect(reasonOf(() => openSmall(altered, 'snapshot', KEYS))).not.toBe('opened');
    }
  });

  it('takes no tag that is shorter than 16 bytes, which Node would', () => {
    const key = randomBytes(32);
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12), { authTagLength: 4 });
    const short = Buffer.concat([cipher.update('x'), cipher.final(), cipher.getAuthTag()]);
    expect(short.length).toBe(5);
    const sealed = sealSmall(Buffer.from('x'), FACTS, KEYS);
    expect(reasonOf(() => openAll(sealed.subarray(0, -12)))).toBe('damaged');
  });

  it('that claims to be larger than allowed is refused before anything is kept for it', () => {
    const sealed = sealSmall(randomBytes(1000), FACTS, KEYS);
    expect(reasonOf(() => open(sealed, 'snapshot', KEYS, 999))).toBe('too-large');
  });

  it('is refused when it is noise', () => {
    for (let round = 0; round < 200; round += 1) {
      const noise = randomBytes(round * 13);
      if (round % 2 && noise.length > 4) noise.writeUInt32LE(Math.min(noise.length - 4, 2000), 0);
      expect(reasonOf(() => openSmall(noise, 'snapshot', KEYS))).toBe('damaged');
    }
  });
});
