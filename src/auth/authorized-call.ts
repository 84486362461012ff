import { Inject, Injectable } from '@nestjs/common';
import { orAborted } from '../time/deadline.js';
import { TooLateToSend } from '../egress/egress.js';
import type { Answer, WireRequest } from '../egress/wire-client.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { Clock } from '../time/clock.js';
import { Settings } from '../config/settings.js';
import type { AccessToken } from './access-token-provider.js';
import type { BankIdentity } from './bank-identity.js';
import { validityError } from './client-certificate.js';
import { IdentityHolder } from './identity-holder.js';

/** No token was available for a call. The back-off of the list does not count it: the token has its own. */
export class NoToken extends GatewayError {}

interface AuthorizedRequest extends Pick<WireRequest, 'judge' | 'isFresh'> {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent to the bank as X-Request-Id. */
  readonly refreshId: string;
  readonly signal: AbortSignal;
}

/** GET with our certificate and token. A 401 is retried at most once, with another token (docs/calling-the-bank.md#token). */
@Injectable()
export class AuthorizedCall {
  constructor(
    @Inject(IdentityHolder) private readonly identities: Pick<IdentityHolder, 'current' | 'failed'>,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws NoToken with certificate-unusable or a code of the token provider; GatewayError as `Egress.get`; or the
   * signal's reason
   */
  async get(request: AuthorizedRequest): Promise<Answer> {
    for (;;) {
      const identity = this.identities.current;
      try {
        return await this.#getOnce(identity, request);
      } catch (error) {
        // while the call waited for its slot; each attempt takes longer than a token lives, so the loop ends
        if (error instanceof TooLateToSend) continue;
        if (!(error instanceof GatewayError) || request.signal.aborted) throw error;
        await orAborted(this.identities.failed(identity, error), request.signal);
        if (identity === this.identities.current) throw error;
      }
    }
  }

  async #getOnce(identity: BankIdentity, request: AuthorizedRequest): Promise<Answer> {
    const { certificate, tokens } = identity;
    const { signal } = request;
    const invalid = validityError(certificate, this.clock.now().wall);
    if (invalid) throwNoToken(invalid);
    const token = await orAborted(tokens.get().catch(throwNoToken), signal);
    const answer = await this.#send(identity, token, request);
    if (answer.status !== 401) return answer;
    const another = await orAborted(tokens.replace(token).catch(throwNoToken), signal);
    return another ? this.#send(identity, another, request) : answer;
  }

  #send({ egress }: BankIdentity, token: AccessToken, request: AuthorizedRequest): Promise<Answer> {
    const { refreshId, ...rest } = request;
    return egress.get({
      ...rest,
      target: 'accounts',
      baseUrl: this.settings.BANK_BASE_URL,
      headers: { Accept: 'application/json', Authorization: `Bearer ${token.value}`, 'X-Request-Id': refreshId },
      sendBefore: token.unusableAt,
    });
  }
}

/** @throws NoToken */
function throwNoToken(thrown: unknown): never {
  const error = toGatewayError(thrown);
  throw new NoToken(error.code, error.detail, error);
}
