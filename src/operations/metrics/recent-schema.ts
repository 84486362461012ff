import { z } from 'zod';
import { troubleShape } from '../../errors/problem-document.js';
import { OWNERS } from '../../errors/problem-table.js';

const at = z.iso.datetime().meta({ example: '2026-11-21T08:00:00.000Z' });
const count = z.int().min(0);
const ms = z.number().min(0).nullable().meta({ example: 1.25 });
const { code, owner } = troubleShape;

const pointSchema = z
  .object({
    at: at.describe('the end of the interval'),
    requests: count.meta({ example: 40 }).describe("of /api/v1, without those of the gateway's own pages"),
    current: count.meta({ example: 38 }).describe('those that got current data'),
    stale: count.meta({ example: 2 }).describe('those that got a copy, marked stale'),
    errors: count.meta({ example: 0 }).describe('those answered with a 5xx status'),
    failuresByOwner: z
      .partialRecord(z.enum(OWNERS), count)
      .meta({ example: { bank: 2 } })
      .describe('the errors by who must act; an owner without any is absent'),
    p50Ms: ms.describe('median duration; null without requests'),
    p99Ms: ms,
    bankCalls: count.meta({ example: 2 }).describe('for tokens and accounts'),
    bankFailures: count.meta({ example: 0 }),
    bankP50Ms: ms,
    snapshotAgeSeconds: count.nullable().meta({ example: 3 }).describe('at the end; null while nothing is cached'),
  })
  .meta({ id: 'RecentPoint' });

const clientSchema = z
  .object({
    name: z
      .string()
      .meta({ example: 'treasury' })
      .describe('X-Client-Name; `none` without one, `other` for names that are not counted separately'),
    callsPerMinute: count
      .meta({ example: 12 })
      .describe('calls since the last point and in the five before it: the last 50 to 60 s'),
    p99Ms: ms.describe('of the last minute, within 8 %; null without calls'),
    current: count.meta({ example: 12 }).describe('those that got current data'),
    stale: count.meta({ example: 0 }).describe('those that got a copy, marked stale'),
    errors: count.meta({ example: 0 }).describe('those answered with a 5xx status'),
    lastAt: at.describe('the last call'),
  })
  .meta({ id: 'RecentClient' });

const eventSchema = z
  .object({
    at,
    level: z.enum(['debug', 'info', 'warn', 'error', 'fatal']).meta({ example: 'warn' }),
    event: z.string().meta({ example: 'bank.unavailable' }).describe('as in the log'),
    code: code.optional(),
    owner: owner.optional(),
    msg: z.string().meta({ example: 'calls to the bank fail' }),
  })
  .meta({ id: 'RecentEvent' });

export const recentSchema = z
  .object({
    everySeconds: z.int().meta({ example: 10 }),
    points: z.array(pointSchema).max(360).describe('the last hour, the oldest first'),
    present: pointSchema.describe('the seconds since the last point'),
    clients: z.array(clientSchema).max(52).describe('the callers of the last hour, the busiest first'),
    events: z.array(eventSchema).max(200).describe('the last notable ones, the oldest first'),
  })
  .meta({ id: 'Recent' });

export type RecentPoint = z.infer<typeof pointSchema>;
export type RecentClient = z.infer<typeof clientSchema>;
export type RecentEvent = z.infer<typeof eventSchema>;
