export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Reads an Authorization header of the scheme Basic (RFC 7617, UTF-8); null if it is not exactly that. */
export function parseBasic(header: string | undefined): Credentials | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1];
  if (!encoded || encoded.length % 4 !== 0) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
    const colon = text.indexOf(':');
    return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch {
    return null;
  }
}
