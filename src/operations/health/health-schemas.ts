import { z } from 'zod';
import { troubleShape } from '../../errors/problem-document.js';

const status = z.enum(['up', 'degraded', 'down', 'unknown']).meta({ example: 'up' }).describe('unknown: not tried');
const { code, owner, detail } = troubleShape;
const instant = z.iso.datetime().nullable().meta({ example: '2026-11-21T08:00:00.000Z' });
const failure = z.object({
  code,
  at: z.iso.datetime().meta({ example: '2026-11-21T08:00:00.000Z' }),
  status: z.int().nullable().meta({ example: 503 }).describe('HTTP status of the answer; null if there was none'),
  bankCode: z.string().optional().meta({ example: 'AuthorizationParseFailure' }).describe("the bank's own error code"),
  bankTraceId: z
    .string()
    .optional()
    .meta({ example: '4bf92f3577b34da6a3ce929d0e0e4736' })
    .describe("the bank's trace id"),
});

/** One component. An unhealthy one starts with who must act and what to do, before its data. */
const partOf = <T extends z.ZodRawShape>(name: string, data: T) =>
  z
    .object({
      status,
      code: code.optional(),
      owner: owner.optional(),
      detail: detail.optional(),
      remedy: z.string().optional().describe('what to do about it'),
      ...data,
    })
    .meta({ id: `${name}Health` });

const parts = {
  instance: partOf('Instance', {}).optional().describe('while it is stopping'),
  certificate: partOf('Certificate', {
    subject: z.string().meta({ example: 'CN=m2m, O=Example' }),
    thumbprint: z.string().meta({ example: '4F7A86156DF1FE6FFB82BF2FF75F399656BE83BD' }).describe('SHA-1'),
    notAfter: z.iso.datetime().meta({ example: '2027-11-21T08:00:00.000Z' }),
    daysLeft: z.int().meta({ example: 364 }),
    next: z
      .object({
        thumbprint: z.string().nullable(),
        notAfter: z.iso.datetime().nullable(),
        state: z.enum(['waiting-for-bank', 'not-yet-valid', 'refused']),
        since: z.iso.datetime(),
        detail: z.string(),
      })
      .nullable()
      .describe('the certificate in the files that has not taken over; null if there is none'),
  }),
  egress: partOf('Egress', {
    route: z.string().meta({ example: 'direct' }),
    proxy: z.string().nullable().meta({ example: 'proxy.example:3128' }).describe('null: direct'),
    publicAddress: z.string().nullable().meta({ example: '203.0.113.7' }).describe('EGRESS_PUBLIC_ADDRESS'),
  }),
  token: partOf('Token', {
    host: z.string().meta({ example: 'auth.bank.example' }).describe('of BANK_AUTH_URL'),
    state: z.string().meta({ example: 'usable' }),
    expiresInSeconds: z.int().nullable().meta({ example: 240 }),
    willFail: z
      .object({ currentUntil: z.iso.datetime(), copyUntil: z.iso.datetime() })
      .nullable()
      .describe('while renewals fail until the operator acts: the end of current data, and then of copies'),
    lastSuccessAt: instant.describe('of a token request'),
    failingSince: instant.describe('start of the current series of failed token requests'),
    lastError: failure.nullable().describe('the last failure of the current series; null without one'),
  }),
  bank: partOf('Bank', {
    mode: z.enum(['live', 'sandbox']),
    host: z.string().meta({ example: 'bank.example' }).describe('of BANK_BASE_URL'),
    support: z.string().nullable().meta({ example: 'Service desk, +45 70 10 00 00' }).describe('BANK_SUPPORT'),
    statusPage: z.string().nullable().meta({ example: 'https://status.bank.example/' }).describe('BANK_STATUS_PAGE'),
    lastSuccessAt: instant.describe('of a refresh from the bank'),
    lastError: failure
      .extend({ target: z.enum(['token', 'accounts']) })
      .nullable()
      .describe('the last failure of a token request or a refresh since the start'),
    circuit: z.enum(['closed', 'open', 'half-open']).describe('state of the back-off'),
    failingSince: instant.describe('start of the current series of failures, of list or token; null without one'),
    attempts: z.int().min(1).nullable().meta({ example: 3 }).describe('failed attempts since then'),
    nextAttemptAt: instant,
    listFailingSince: instant.describe('start of the current series of failed refreshes, a missing token aside'),
    slow: z
      .object({ since: z.iso.datetime(), copySeconds: z.int().nullable() })
      .nullable()
      .describe('since when refreshes exceed the soft timeout; `copySeconds`: how old copies got meanwhile'),
    drift: z
      .array(
        z
          .object({
            path: z.string().meta({ example: 'balances[].availableAmount' }).describe('from the account on'),
            value: z
              .string()
              .optional()
              .meta({ example: 'Frozen' })
              .describe('an unknown word of status, type or protectionType'),
            missing: z.literal(true).optional().describe('a known key that no account has any longer'),
          })
          .meta({ id: 'DriftPath' }),
      )
      .max(50)
      .describe('unknown or missing keys, and unknown words, of the last whole list; never an error'),
    moreDrift: z.int().min(0).meta({ example: 0 }).describe('further entries that are not in drift'),
  }),
  snapshot: partOf('Snapshot', {
    asOf: instant,
    expiresAt: instant.describe('when it stops being served'),
    ageSeconds: z.int().min(0).nullable().meta({ example: 3 }),
    accounts: z.int().min(0).nullable().meta({ example: 120 }),
    stale: z.boolean(),
  }),
  listener: partOf('Listener', {
    subject: z.string().meta({ example: 'CN=accounts.internal.example' }),
    notAfter: z.iso.datetime().meta({ example: '2027-11-21T08:00:00.000Z' }),
    daysLeft: z.int().meta({ example: 364 }),
  })
    .optional()
    .describe('the certificate of this API, where it speaks HTTPS'),
  sharing: partOf('Sharing', {
    state: z.enum(['fleet', 'unavailable']).describe('unavailable: Redis cannot be used'),
    lastStoredAt: instant.describe('when this instance last stored a snapshot in Redis'),
    lastTakenAt: instant.describe('when it last took a snapshot from Redis'),
  })
    .optional()
    .describe('only with REDIS_URL'),
};

const details = z.object(parts).meta({ id: 'HealthDetails' });
/** Grouped by Terminus: each component is in one of the two. */
const some = z.object(parts).partial().meta({ id: 'HealthParts' });

export const healthSchema = z
  .object({
    status: z.enum(['ok', 'degraded', 'error']).meta({ example: 'ok' }),
    error: some.describe('the components that are down'),
    details: details.describe('every component, the worst first'),
    info: some.describe('the components that are not down'),
    version: z.string().meta({ example: '1.0.0' }),
    commit: z.string().nullable().meta({ example: '0123456789ab' }),
    environment: z.string().nullable().meta({ example: 'production' }).describe('ENVIRONMENT'),
    instance: z.string().meta({ example: 'gateway-1' }).describe('host name'),
  })
  .meta({ id: 'Health' });

/** The body of /health/live and /health/ready. */
export const healthStatusSchema = z
  .object({ status: z.enum(['ok', 'error']).meta({ example: 'ok' }) })
  .meta({ id: 'HealthStatus' });
