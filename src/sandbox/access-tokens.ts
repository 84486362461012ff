import { randomUUID } from 'node:crypto';
import { compactVerify, generateKeyPair, SignJWT } from 'jose';

const KEPT = 10_000;

interface Issued {
  readonly number: number;
  readonly thumbprint: string;
  readonly expiresAt: number;
}

type TokenCheck =
  | { readonly good: true; readonly number: number }
  | { readonly good: false; readonly number: number | null; readonly reason: string };

/**
 * Issues and checks access tokens: JWTs signed with a key that lives as long as the process, bound to the client certificate by
 * its SHA-1 thumbprint. Lifetimes run by the monotonic clock, exact to the millisecond, whatever the machine's clock does.
 */
export class AccessTokens {
  readonly #keys: Awaited<ReturnType<typeof generateKeyPair>>;
  readonly #issued = new Map<string, Issued>();
  #count = 0;
  #revokedUpTo = 0;

  private constructor(keys: Awaited<ReturnType<typeof generateKeyPair>>) {
    this.#keys = keys;
  }

  static async create(): Promise<AccessTokens> {
    return new AccessTokens(await generateKeyPair('ES256'));
  }

  /** How many tokens were issued so far. */
  get count(): number {
    return this.#count;
  }

  /** A new token, different from every other, for the certificate with that thumbprint (SHA-1, hex). */
  async issue(thumbprint: string, user: string, lifetimeSeconds: number): Promise<{ token: string; number: number }> {
    const id = randomUUID();
    const number = ++this.#count;
    const issuedAt = Math.floor(Date.now() / 1000);
    this.#issued.set(id, { number, thumbprint, expiresAt: performance.now() + lifetimeSeconds * 1000 });
    if (this.#issued.size > KEPT) this.#issued.delete(this.#issued.keys().next().value ?? '');
    const token = await new SignJWT({ cnf: { x5t: Buffer.from(thumbprint, 'hex').toString('base64url') } })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .setIssuer('sandbox-bank')
      .setSubject(user)
      .setJti(id)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .sign(this.#keys.privateKey);
    return { token, number };
  }

  /** Judges a token presented with a certificate, or with none (which the real service lets pass on the account list). */
  async check(token: string, thumbprint: string | null): Promise<TokenCheck> {
    const issued = this.#issued.get((await this.#readId(token)) ?? '');
    if (!issued) return { good: false, number: null, reason: 'The signature is invalid.' };
    const refuse = (reason: string): TokenCheck => ({ good: false, number: issued.number, reason });
    if (performance.now() >= issued.expiresAt) return refuse('The token expired.');
    if (issued.number <= this.#revokedUpTo) return refuse('The token was revoked.');
    if (thumbprint !== null && thumbprint !== issued.thumbprint) {
      return refuse('The token was issued under another client certificate.');
    }
    return { good: true, number: issued.number };
  }

  /** Refuses all tokens issued so far. */
  revokeAll(): void {
    this.#revokedUpTo = this.#count;
  }

  /** Takes every revocation back. */
  pardonAll(): void {
    this.#revokedUpTo = 0;
  }

  async #readId(token: string): Promise<string | null> {
    try {
      const { payload } = await compactVerify(token, this.#keys.publicKey, { algorithms: ['ES256'] });
      const claims = JSON.parse(Buffer.from(payload).toString('utf8')) as { jti?: unknown };
      return typeof claims.jti === 'string' ? claims.jti : null;
    } catch {
      return null;
    }
  }
}
