import { z } from 'zod';
import { toRenewAfterMs, usableForMs, type AccessToken, type RequestToken } from '../auth/access-token.js';
import { SharedTokens } from '../auth/bank-identity.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Found, Job } from './shared-task.js';
import type { Fleet } from './fleet.js';
import type { FleetKeys } from './fleet-keys.js';
import { openJson, Refused, sealJson } from './sealing.js';
import type { ServerTime } from './server-time.js';

const tokenSchema = z.object({
  value: z
    .string()
    .max(16_384)
    .regex(/^[A-Za-z0-9._~+/=-]+$/),
  lifetimeMs: z.number().min(1000).max(86_400_000),
  /** By Redis' clock. */
  requestedAt: z.number(),
  forcedAt: z.number().nullable(),
});

/** One token for the fleet: asked for once, renewed once, and once when it was revoked (docs/fleet.md#how-it-works). */
export class FleetTokens extends SharedTokens {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    super();
    this.#fleet = fleet;
  }

  override share(ask: () => Promise<AccessToken>, material: IdentityMaterial): RequestToken {
    return async (unwanted, refused) => {
      const { keys, task } = this.#fleet.taskOf(material, 'token');
      const { value, source } = await task.run(new TokenJob(keys, ask, unwanted, refused));
      return { ...value, source };
    };
  }
}

class TokenJob implements Job<AccessToken> {
  constructor(
    private readonly keys: FleetKeys,
    private readonly ask: () => Promise<AccessToken>,
    private readonly unwanted: AccessToken | null,
    private readonly refused: boolean,
  ) {}

  async find({ fence, record, time }: Found): Promise<AccessToken | null> {
    const { facts, value } = openJson(record, 'token', tokenSchema, this.keys);
    if (facts.fence !== fence) throw new Refused('damaged');
    const token = toToken(value, time);
    if (time.now() - facts.at >= usableForMs(token)) return null;
    // an older answer never takes the place of a newer one
    const older = this.unwanted !== null && facts.at < time.of(this.unwanted.requestedAt);
    return older || token.value === this.unwanted?.value ? null : token;
  }

  work(): Promise<AccessToken> {
    return this.ask();
  }

  async store({ value, lifetimeMs, requestedAt }: AccessToken, fence: number, time: ServerTime) {
    const at = time.of(requestedAt);
    const shared = { value, lifetimeMs, requestedAt: at, forcedAt: this.refused ? at : null };
    return { record: sealJson(shared, { kind: 'token', at, fence }, this.keys), pieces: 0, lastsMs: lifetimeMs };
  }
}

function toToken(
  { value, lifetimeMs, requestedAt, forcedAt }: z.output<typeof tokenSchema>,
  time: ServerTime,
): AccessToken {
  return {
    value,
    lifetimeMs,
    requestedAt: time.toInstant(requestedAt),
    renewAfterMs: toRenewAfterMs(lifetimeMs),
    ...(forcedAt !== null && { forcedAt: time.toInstant(forcedAt) }),
  };
}
