import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { account } from '../../test/support/sample-snapshots.js';
import { HEADER_BYTES, open, OVERHEAD_BYTES, readHeader, CopyRejected, seal, toGroup, type Group } from './sealing.js';

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const KEY = newKey();
const BANK = { BANK_BASE_URL: 'https://bank.example', BANK_AUTH_URL: 'https://auth.example' };
const AS_OF_MS = Date.UTC(2026, 10, 21);
const FACTS = { asOfMs: AS_OF_MS, durationMs: 5, complete: true };
const JSON_BYTES = new TextEncoder().encode(JSON.stringify([account()]));

const material = (key = KEY, username = 'user') =>
  ({ certificate: { keyPem: key.export({ format: 'pem', type: 'pkcs8' }) }, username }) as unknown as IdentityMaterial;

const reasonOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof CopyRejected ? error.reason : error;
};

async function scene(group?: Group) {
  const ours = group ?? (await toGroup(material(), BANK, null));
  return { group: ours, sealed: await seal({ json: JSON_BYTES, facts: FACTS }, ours) };
}

describe('a group', () => {
  it('is the same for a private key in any format', async () => {
    const sec1 = createPrivateKey(KEY.export({ format: 'pem', type: 'sec1' }));
    const { group, sealed } = await scene();
    const same = await toGroup(material(sec1), BANK, null);
    expect(same.keyId).toBe(group.keyId);
    expect((await open(sealed, same)).json).toEqual(JSON_BYTES);
  });

  it.each<[string, () => Promise<Group>]>([
    ['private key', () => toGroup(material(newKey()), BANK, null)],
    ['user', () => toGroup(material(KEY, 'other'), BANK, null)],
    ['address', () => toGroup(material(), { ...BANK, BANK_BASE_URL: 'https://other.example' }, null)],
    ['token address', () => toGroup(material(), { ...BANK, BANK_AUTH_URL: 'https://other.example' }, null)],
    ['SNAPSHOT_KEY_FILE', () => toGroup(material(), BANK, randomBytes(32))],
  ])("differs for another %s, and cannot decrypt a copy even with the first group's id", async (_what, toOther) => {
    const { group, sealed } = await scene();
    const other = await toOther();
    expect(other.keyId).not.toBe(group.keyId);
    expect(await reasonOf(open(sealed, other))).toBe('foreign');
    const disguised = { ...other, keyId: group.keyId, addresses: group.addresses };
    expect(await reasonOf(open(sealed, disguised))).toBe('damaged');
  });

  it('is the same for a new certificate with the same SNAPSHOT_KEY_FILE', async () => {
    const ownKey = randomBytes(32);
    const { sealed } = await scene(await toGroup(material(), BANK, ownKey));
    const renewed = await toGroup(material(newKey()), BANK, ownKey);
    expect(await reasonOf(open(sealed, renewed))).toBeNull();
  });
});

describe('an encrypted snapshot', () => {
  it.each([true, false, null])('is decrypted unchanged, complete: %s', async (complete) => {
    const { group } = await scene();
    const facts = { ...FACTS, complete };
    const sealed = await seal({ json: JSON_BYTES, facts }, group);
    expect(await open(sealed, group)).toEqual({ json: JSON_BYTES, facts });
    expect(readHeader(sealed, group)).toEqual(facts);
    expect(sealed.length).toBe(JSON_BYTES.length + OVERHEAD_BYTES);
  });

  it('never repeats IV or bytes, and shows nothing of its content', async () => {
    const { group, sealed } = await scene();
    const again = await seal({ json: JSON_BYTES, facts: FACTS }, group);
    const parts = ([from, to]: readonly [number, number]) => [sealed.subarray(from, to), again.subarray(from, to)];
    const [[header, same], [iv, otherIv], [content, otherContent]] = [
      parts([0, 61]),
      parts([61, HEADER_BYTES]),
      parts([HEADER_BYTES, HEADER_BYTES + 64]),
    ];
    expect(same).toEqual(header);
    expect(otherIv).not.toEqual(iv);
    expect(otherContent).not.toEqual(content);
    expect(sealed.includes('Operating')).toBe(false);
  });

  it('is rejected if any byte of its header changes, or bytes of its content or tag', async () => {
    const { group, sealed } = await scene();
    const places = [...Array(HEADER_BYTES + 32).keys(), sealed.length - 17, sealed.length - 16, sealed.length - 1];
    for (const place of places) {
      const altered = Buffer.from(sealed);
      altered[place] = (altered[place] as number) ^ 0x10;
      expect([place, await reasonOf(open(altered, group))]).toEqual([
        place,
        expect.stringMatching(/^(damaged|foreign)$/),
      ]);
    }
  });

  it.each([0, 1, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 15, -1])(
    'is rejected if it is cut off (%p)',
    async (length) => {
      const { group, sealed } = await scene();
      expect(await reasonOf(open(sealed.subarray(0, length), group))).toBe('damaged');
    },
  );
});
