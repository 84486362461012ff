import rc2 from 'node-forge/lib/rc2.js';
import util from 'node-forge/lib/util.js';

/** RC2-CBC (RFC 2268), which OpenSSL 3 no longer has; only to open old PFX files. Throws on wrong padding. */
export function decryptRc2(key: Buffer, effectiveBits: number, iv: Buffer, input: Buffer): Buffer {
  const cipher = rc2.createDecryptionCipher(key.toString('latin1'), effectiveBits);
  cipher.start(iv.toString('latin1'));
  cipher.update(util.createBuffer(input.toString('latin1')));
  // forge looks at the last byte of the padding only: it is kept here, and checked whole below
  const whole = cipher.finish(() => true);
  const output = Buffer.from(cipher.output.getBytes(), 'latin1');
  const padding = output.at(-1) ?? 0;
  if (!whole || padding < 1 || padding > 8 || !output.subarray(-padding).every((byte) => byte === padding)) {
    throw new Error('bad decrypt');
  }
  return output.subarray(0, -padding);
}

/** RC4, which OpenSSL 3 no longer has; only to open old PFX files. The same for both directions. */
export function rc4(key: Buffer, input: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number): number => state[index & 0xff] ?? 0;
  const swap = (one: number, other: number): void => {
    [state[one], state[other]] = [at(other), at(one)];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + at(i) + key.readUInt8(i % key.length)) & 0xff;
    swap(i, j);
  }
  let i = 0;
  let j = 0;
  return Buffer.from(
    input.map((byte) => {
      i = (i + 1) & 0xff;
      j = (j + at(i)) & 0xff;
      swap(i, j);
      return byte ^ at(at(i) + at(j));
    }),
  );
}
