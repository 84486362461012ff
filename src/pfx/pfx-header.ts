/** Version 3, with which every PFX begins (RFC 7292, 4). */
const VERSION = Buffer.from([0x02, 0x01, 0x03]);

/** Whether these are the first bytes of a PFX, whole or not. */
export function startsLikePfx(bytes: Buffer): boolean {
  const header = headerLength(bytes);
  return header !== undefined && bytes.subarray(header, header + VERSION.length).equals(VERSION);
}

/** The whole length that the first bytes of a PFX announce; undefined if they are none or leave it open (BER). */
export function announcedBytes(bytes: Buffer): number | undefined {
  const header = headerLength(bytes);
  if (header === undefined || header === 2 || !startsLikePfx(bytes)) return undefined;
  return header + bytes.readUIntBE(2, header - 2);
}

/** Of a SEQUENCE of 128 bytes or more (no PFX is shorter), or of open length; 2 stands for the latter. */
function headerLength(bytes: Buffer): number | undefined {
  const [tag, length] = bytes;
  if (tag !== 0x30 || length === undefined || length < 0x80 || length > 0x84) return undefined;
  const header = 2 + (length & 0x7f);
  return bytes.length < header ? undefined : header;
}
