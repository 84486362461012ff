import { orAborted } from '../time/deadline.js';
import type { WireAnswer, WireRequest } from '../egress/egress.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { AccessToken } from './access-token.js';
import type { BankIdentity } from './bank-identity.js';
import type { IdentityHolder } from './identity-holder.js';

/** There was no token to ask with: the bank was not asked, and the token's own rules say when to try again. */
export class NoToken extends GatewayError {}

/** The token came to its end while its call waited for a turn. */
class TokenAged extends Error {}

function orNoToken<T>(getToken: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const asked = async () => {
    try {
      return await getToken();
    } catch (thrown) {
      const error = toGatewayError(thrown);
      throw new NoToken(error.code, error.detail, error);
    }
  };
  return orAborted(asked(), signal);
}

/** Its path is below {base_url}. */
interface AuthorizedRequest extends Pick<WireRequest, 'target' | 'path' | 'counted'> {
  readonly query: Readonly<Record<string, string>>;
  /** Sent to the bank as X-Request-Id. */
  readonly refreshId: string;
  readonly signal: AbortSignal;
}

/**
 * GET with our certificate and token. A 401 is healed once with another token (docs/bank.md#token-rules); nothing else handles tokens.
 * @throws NoToken with certificate-unusable or a code of the token provider; GatewayError as `Egress.get`; or the
 * signal's reason
 */
export class AuthorizedCall {
  readonly #identities: Pick<IdentityHolder, 'current'>;
  readonly #baseUrl: string;

  constructor(identities: Pick<IdentityHolder, 'current'>, settings: Pick<Settings, 'BANK_BASE_URL'>) {
    this.#identities = identities;
    this.#baseUrl = settings.BANK_BASE_URL;
  }

  async get(request: AuthorizedRequest): Promise<WireAnswer> {
    for (;;) {
      try {
        return await this.#getOnce(request);
      } catch (error) {
        // each such failure uses up the rest of a token's life, so that this ends
        if (!(error instanceof TokenAged)) throw error;
      }
    }
  }

  async #getOnce(request: AuthorizedRequest): Promise<WireAnswer> {
    const identity = this.#identities.current;
    const { signal } = request;
    const token = await orNoToken(() => {
      identity.assertUsable();
      return identity.tokens.get();
    }, signal);
    const answer = await this.#send(identity, token, request);
    if (answer.status !== 401) return answer;
    const another = await orNoToken(() => identity.tokens.replace(token), signal);
    return another ? this.#send(identity, another, request) : answer;
  }

  #send(identity: BankIdentity, token: AccessToken, { refreshId, ...request }: AuthorizedRequest): Promise<WireAnswer> {
    return identity.egress.get({
      ...request,
      baseUrl: this.#baseUrl,
      headers: { Accept: 'application/json', 'X-Request-Id': refreshId },
      freshHeaders: () => {
        if (!identity.tokens.mayBeSent(token)) throw new TokenAged();
        return { Authorization: `Bearer ${token.value}` };
      },
    });
  }
}
