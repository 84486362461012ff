import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../time/clock.js';
import { Log } from '../logging/logging.js';
import { isKnownCode, OWNERS, PROBLEMS } from '../problems/problem-table.js';
import { NOTABLE_EVENTS } from './notable-events.js';
import type { RecentEvent } from './recent-schema.js';

const MAX_EVENTS = 200;

/** The last notable log events (docs/health-and-metrics.md#the-last-hour), each as a sentence of our own: of its line, only names are kept. */
@Injectable()
export class RecentEvents implements OnModuleDestroy {
  readonly #events: RecentEvent[] = [];
  readonly onModuleDestroy: () => void;

  constructor(log: Log, clock: Clock) {
    this.onModuleDestroy = log.listen((level, { event, code, owner }) => {
      const msg = NOTABLE_EVENTS.get(event as string);
      if (msg === undefined) return;
      const known = typeof code === 'string' && isKnownCode(code) ? code : null;
      this.#events.push({
        at: new Date(clock.now().wall).toISOString(),
        level: level as RecentEvent['level'],
        event: event as string,
        ...(known && { code: known, owner: OWNERS.find((each) => each === owner) ?? PROBLEMS[known].owner }),
        msg,
      });
      if (this.#events.length > MAX_EVENTS) this.#events.shift();
    });
  }

  /** Oldest first. */
  get events(): readonly RecentEvent[] {
    return this.#events;
  }
}
