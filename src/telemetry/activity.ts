import { EventEmitter } from 'node:events';
import type { RequestFields } from '../logging/request-fields.js';
import type { ProblemCode } from '../problems/problem-table.js';

/**
 * A request that has its answer, or whose caller has left; one that was refused before it became one, too. It holds what
 * was known at that moment: the work for a caller who has left may yet fail, and is then no answer.
 */
export interface RequestEnded {
  /** As the caller sent it; null when nothing of it could be read. */
  readonly method: string | null;
  /** The template of its route; null without one. */
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
  readonly cache: RequestFields['cache'];
  readonly problem: RequestFields['problem'];
  /** X-Client-Name as the caller sent it: it may be anything. */
  readonly clientName: string | undefined;
}

/** One call to the bank that ended by itself; calls that were given up are not reported. */
export interface BankCallEnded {
  readonly target: 'token' | 'accounts';
  readonly method: 'GET';
  readonly serverAddress: string;
  readonly serverPort: number;
  /** Null without an answer. */
  readonly status: number | null;
  /** Without the wait for its slot. */
  readonly ms: number;
  /** The problem it ended with; null on success. */
  readonly code: ProblemCode | null;
}

/** A request for a token that came to an end of its own. */
interface TokenRequestEnded {
  /** What it failed with; null when it went well. */
  readonly code: ProblemCode | null;
}

/** A reading of all accounts, with all its pages and repeats. */
export interface RefreshEnded {
  readonly ms: number;
  /** What it failed with; null when it went well. */
  readonly code: ProblemCode | null;
}

/** A newer snapshot is held. */
interface SnapshotTaken {
  /** Read here, by another instance, or before the start. */
  readonly source: 'bank' | 'shared' | 'file';
}

interface ActivityEvents {
  requestsEnded: [readonly RequestEnded[]];
  bankCallEnded: [BankCallEnded];
  tokenRequestEnded: [TokenRequestEnded];
  refreshEnded: [RefreshEnded];
  snapshotTaken: [SnapshotTaken];
}

/** Requests are told of so many at a time: counted one by one, between other work, each costs several times as much. */
const BATCH = 100;

/**
 * What happens in the rooms of one app, told to those who measure it (docs/architecture.md#figures). Listeners are called on
 * the way of a request: they are brief, and throw nothing.
 */
export class Activity extends EventEmitter<ActivityEvents> {
  #requests: RequestEnded[] = [];

  /** A request has ended. It is told of with others, soon; `flush` says when at the latest. */
  requestEnded(request: RequestEnded): void {
    if (this.#requests.push(request) >= BATCH) this.flush();
  }

  /** Tells of all requests that have ended; for who reads what was counted. */
  flush(): void {
    if (this.#requests.length === 0) return;
    const requests = this.#requests;
    this.#requests = [];
    this.emit('requestsEnded', requests);
  }
}
