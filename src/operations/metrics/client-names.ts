import { Injectable } from '@nestjs/common';
import type { RequestEnded } from '../../telemetry/activity.js';
import { hasManyDigits } from '../../errors/many-digits.js';

const MAX_NAMES = 50;
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
/** Problems of callers that are not allowed to call: they must not use up the names. */
const REJECTED = new Set(['client-not-allowed', 'host-not-allowed']);

/**
 * The names of callers, from their X-Client-Name (docs/health-and-metrics.md#labels): the first 50 that look like names of
 * programs; `other` for the rest, which may hold anything, and `none` without one.
 */
@Injectable()
export class ClientNames {
  readonly #known = new Set<string>();

  /** The name for the caller of this request. Only requests that reach a route add names. */
  of({ clientName: header, route, problem }: Pick<RequestEnded, 'clientName' | 'route' | 'problem'>): string {
    if (header === undefined || header === '') return 'none';
    if (this.#known.has(header)) return header;
    if (route === null || (problem && REJECTED.has(problem.code))) return 'other';
    if (this.#known.size >= MAX_NAMES || !NAME.test(header) || hasManyDigits(header)) return 'other';
    this.#known.add(header);
    return header;
  }
}
