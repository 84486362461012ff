import { Injectable } from '@nestjs/common';
import { Clock } from '../time/clock.js';
import { Log } from '../logging/logging.js';
import { isKnownCode, OWNERS, PROBLEMS } from '../problems/problem-table.js';
import type { RecentEvent } from './recent-schema.js';

const MAX_EVENTS = 200;

/**
 * The log events of the last hour, each with its sentence: those that someone may have to act on, and those that end them.
 * Other fields of a line may name files, hosts or settings, and stay in the log.
 */
export const NOTABLE_EVENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'gateway.started': 'the gateway started',
    'gateway.stopping': 'the gateway is stopping',
    'gateway.fault': 'an internal error ended the process',
    'request.failed': 'a request failed with an internal error',
    'config.warning': 'a setting may be a mistake',
    'config.reload': 'certificate and credentials are reloaded',
    'certificate.loaded': 'the client certificate was loaded',
    'certificate.replaced': 'a new certificate is in use',
    'certificate.refused': 'a new certificate or other credentials were refused; the old ones stay',
    'certificate.expiring': 'a certificate expires soon, or has expired',
    'certificate.unusable': 'the client certificate cannot be used now',
    'certificate.warning': 'the client certificate has a problem',
    'token.failed': 'the token request failed',
    'token.rejected': 'the bank rejected the token before it expired',
    'token.lifetime-unknown': 'the bank does not state the lifetime of the token',
    'bank.unavailable': 'the bank is unavailable',
    'bank.recovered': 'the bank is available again',
    'bank.drift': 'the bank sends an unknown field or value',
    'snapshot.failed': 'the refresh failed',
    'snapshot.incomplete': 'the list changed during the refresh; accounts may be missing or repeated',
    'snapshot.emptied': 'the bank lists no accounts, and listed some before',
    'traces.unavailable': 'traces cannot be sent and are dropped',
    'sharing.unavailable': 'Redis is unavailable; this instance refreshes on its own',
    'sharing.recovered': 'Redis is available again',
    'sharing.refused': 'a shared copy cannot be opened and is ignored',
  }),
);

/** The last notable log events (docs/health-and-metrics.md#the-last-hour), each as a sentence of our own: of its line, only names are kept. */
@Injectable()
export class RecentEvents {
  readonly #events: RecentEvent[] = [];

  constructor(log: Log, clock: Clock) {
    log.listen((level, { event, code, owner }) => {
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
