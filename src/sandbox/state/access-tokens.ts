import { randomUUID } from 'node:crypto';
import { compactVerify, generateKeyPair, SignJWT } from 'jose';

type TokenCheck =
  | { readonly isValid: true; readonly number: number }
  | { readonly isValid: false; readonly number: number | null; readonly reason: string };

interface Claims {
  /** Counted from 1. */
  readonly number: number;
  /** SHA-1 of the client certificate (RFC 7515), base64url. */
  readonly cnf: { readonly x5t: string };
  /** Expiry by the clock of this process, ms. Changes of the machine's clock do not affect it. */
  readonly endsAt: number;
}

/**
 * Issues and checks access tokens: JWTs signed with a key that lives as long as the process, bound to the client certificate
 * by its SHA-1 thumbprint.
 */
export class AccessTokens {
  readonly #keys: Awaited<ReturnType<typeof generateKeyPair>>;
  #count = 0;
  #revokedUpTo = 0;

  private constructor(keys: Awaited<ReturnType<typeof generateKeyPair>>) {
    this.#keys = keys;
  }

  static async create(): Promise<AccessTokens> {
    return new AccessTokens(await generateKeyPair('ES256'));
  }

  /** Number of tokens issued so far. */
  get count(): number {
    return this.#count;
  }

  /** Issues a new, unique token for the certificate with that thumbprint (SHA-1, hex). */
  async issue(thumbprint: string, user: string, lifetimeSeconds: number): Promise<{ token: string; number: number }> {
    const number = ++this.#count;
    const issuedAt = Math.floor(Date.now() / 1000);
    const endsAt = performance.now() + lifetimeSeconds * 1000;
    const token = await new SignJWT({ cnf: { x5t: toX5t(thumbprint) }, number, endsAt })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .setIssuer('sandbox-bank')
      .setSubject(user)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .sign(this.#keys.privateKey);
    return { token, number };
  }

  /** Checks a token presented with or without a certificate: a separate host for accounts accepts both. */
  async check(token: string, thumbprint: string | null): Promise<TokenCheck> {
    const claims = await this.#verify(token);
    if (!claims) return { isValid: false, number: null, reason: 'The signature is invalid.' };
    const { number } = claims;
    const reject = (reason: string): TokenCheck => ({ isValid: false, number, reason });
    if (performance.now() >= claims.endsAt) return reject('The token expired.');
    if (number <= this.#revokedUpTo) return reject('The token was revoked.');
    if (thumbprint !== null && toX5t(thumbprint) !== claims.cnf.x5t) {
      return reject('The token was issued under another client certificate.');
    }
    return { isValid: true, number };
  }

  /** Rejects all tokens issued so far. */
  revokeAll(): void {
    this.#revokedUpTo = this.#count;
  }

  /** Undoes every revocation. */
  pardonAll(): void {
    this.#revokedUpTo = 0;
  }

  async #verify(token: string): Promise<Claims | null> {
    try {
      const { payload } = await compactVerify(token, this.#keys.publicKey, { algorithms: ['ES256'] });
      return JSON.parse(Buffer.from(payload).toString('utf8')) as Claims;
    } catch {
      return null;
    }
  }
}

const toX5t = (thumbprint: string) => Buffer.from(thumbprint, 'hex').toString('base64url');
