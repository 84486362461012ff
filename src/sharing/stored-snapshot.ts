import { ListThread } from '../snapshot/list-thread.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { Instant } from '../time/clock.js';
import { Refused, type Opened } from './sealing.js';

/** The snapshot of a stored copy, in its own thread. @throws Refused */
export async function toSnapshot({ json, facts }: Opened, askedAt: Instant): Promise<Snapshot> {
  const { asOfMs, durationMs, complete } = facts;
  const list = new ListThread();
  try {
    const size = await list.restore(json);
    return { list, size, askedAt, asOf: new Date(asOfMs).toISOString(), durationMs, complete };
  } catch (error) {
    await list.end();
    throw new Refused('damaged', { cause: error });
  }
}
