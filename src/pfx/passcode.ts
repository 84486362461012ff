/** One way to encode a passcode. */
export interface Passcode {
  /** For the derivation of RFC 7292, which takes UTF-16 (B.1); null stands for no bytes, not even the final zeros. */
  readonly text: string | null;
  /** For PBKDF2, which takes bytes. */
  readonly bytes: Buffer;
}

/**
 * The encodings that programs are known to use, the standard one first: an empty passcode is two zero bytes or none, and
 * OpenSSL before 1.1.0 made one UTF-16 unit of each byte.
 */
export function toEncodings(passcode: string): Passcode[] {
  const bytes = Buffer.from(passcode, 'utf8');
  const standard = { text: passcode, bytes };
  if (passcode === '') return [standard, { text: null, bytes }];
  return bytes.length === passcode.length ? [standard] : [standard, { text: bytes.toString('latin1'), bytes }];
}
