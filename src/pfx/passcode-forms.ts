/** The bytes that a passcode becomes: for the PKCS#12 derivation (RFC 7292 B.1), and for PBKDF2 and scrypt. */
export interface PasscodeForm {
  bmp: Buffer;
  raw: Buffer;
}

/**
 * The forms in which writers are known to have used a passcode, the standard one first. ASCII has one form; the
 * empty one has two; beyond ASCII there are writers that took bytes for characters, and two ways to compose accents.
 */
export function toPasscodeForms(passcode: string): PasscodeForm[] {
  const standard = { bmp: toBmp(passcode), raw: Buffer.from(passcode, 'utf8') };
  if (passcode === '') return [standard, { bmp: Buffer.alloc(0), raw: standard.raw }];
  if (standard.raw.length === passcode.length) return [standard];

  const forms = [standard];
  for (const composed of new Set([passcode.normalize('NFC'), passcode.normalize('NFD')])) {
    if (composed !== passcode) forms.push({ bmp: toBmp(composed), raw: Buffer.from(composed, 'utf8') });
  }
  // OpenSSL before 1.1.0 made one UTF-16 unit of each byte it was given.
  forms.push({ bmp: toBmp(standard.raw.toString('latin1')), raw: standard.raw });
  const latin1 = Buffer.from(passcode, 'latin1');
  if (latin1.toString('latin1') === passcode) forms.push({ bmp: standard.bmp, raw: latin1 });
  return forms;
}

function toBmp(passcode: string): Buffer {
  return Buffer.from(`${passcode}\0`, 'utf16le').swap16();
}
