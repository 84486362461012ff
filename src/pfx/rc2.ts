import forge from 'node-forge';

/** RC2-CBC (RFC 2268), which OpenSSL 3 no longer has; only to open old PFX files. Throws on wrong padding. */
export function decryptRc2(key: Buffer, effectiveBits: number, iv: Buffer, input: Buffer): Buffer {
  const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), effectiveBits);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(input.toString('latin1')));
  // forge looks at the last byte of the padding only: it is kept here, and looked at whole below.
  const whole = cipher.finish(() => true);
  const output = Buffer.from(cipher.output.getBytes(), 'latin1');
  const padding = output.at(-1) ?? 0;
  if (!whole || padding < 1 || padding > 8 || !output.subarray(-padding).every((byte) => byte === padding)) {
    throw new Error('bad decrypt');
  }
  return output.subarray(0, -padding);
}
