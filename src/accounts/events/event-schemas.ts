import { z } from 'zod';
import { perhapsTrouble } from '../../problems/problem-document.js';
import { snapshotSchema } from '../response-schemas.js';

const ids = (what: string) => z.array(z.string()).describe(what);

/** The data of a `snapshot` event. */
export const snapshotEventSchema = z
  .object({
    ...snapshotSchema.shape,
    accounts: z.int().min(0).meta({ example: 120 }).describe('accounts that match'),
    added: ids('accounts that match, and did not before'),
    changed: ids('accounts that match as before, with other content'),
    removed: ids('accounts that matched, and do not any more'),
    totalsChanged: z.boolean().describe('false when the totals of these accounts are the same as before'),
    many: z
      .literal(true)
      .optional()
      .describe('more than 1000 ids, or not known one by one: the lists are empty; read all again'),
  })
  .meta({ id: 'SnapshotEvent' });

/** The data of a `state` event. */
export const stateEventSchema = z
  .object({
    stale: z.boolean().describe('what is served is older than it should be'),
    code: perhapsTrouble.code.describe('what the last reading failed with; null when it went well'),
    owner: perhapsTrouble.owner.describe('who must act; null when nobody'),
  })
  .meta({ id: 'StateEvent' });

/** The data of `reset` and `stopping`, which say all by their names. */
export const plainEventSchema = z.object({}).meta({ id: 'PlainEvent' });
