import { Injectable } from '@nestjs/common';
import { Log } from '../../telemetry/log.js';
import type { AnyCode, Owner } from '../../errors/problem-table.js';
import { Clock } from '../../time/clock.js';
import type { RecentEvent } from './recent-schema.js';

const MAX_EVENTS = 200;

/** Events of normal operation. They are not kept, because they would displace the others. */
const COMMON = new Set(['bank.call', 'request', 'snapshot.refreshed', 'token.acquired']);

/**
 * The last notable log events (docs/logs.md#the-last-hour), each with its message. Other fields of a line stay
 * in the log.
 */
@Injectable()
export class RecentEvents {
  readonly #events: RecentEvent[] = [];

  constructor(log: Log, clock: Clock) {
    log.listen((level, { event, code, owner }, msg) => {
      if (typeof event !== 'string' || COMMON.has(event)) return;
      this.#events.push({
        at: new Date(clock.now().wall).toISOString(),
        level: level as RecentEvent['level'],
        event,
        ...(code !== undefined && { code: code as AnyCode, owner: owner as Owner }),
        msg: String(msg),
      });
      if (this.#events.length > MAX_EVENTS) this.#events.shift();
    });
  }

  /** Oldest first. */
  get events(): readonly RecentEvent[] {
    return this.#events;
  }
}
