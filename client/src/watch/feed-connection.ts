import { GatewayProblem, readProblem, toNetworkProblem, toUnexpectedAnswer } from '../gateway-problem.js';
import type { StateEvent } from '../generated/types.gen.js';
import { sleep } from '../sleep.js';
import { EventStreamParser } from './event-stream-parser.js';
import { toFeedMessage } from './to-feed-message.js';
import type { Feed, FeedMessage, ProblemData } from './watch-events.js';

/** The gateway sends a comment every 15 s (docs/api.md#the-change-feed): three were missed. */
const SILENCE_MS = 45_000;
const RETRY_MS = 3000;
const MAX_RETRY_MS = 30_000;

/** A stream that does not begin with a state is well (docs/api.md#the-change-feed); so long is the beginning. */
const BEGINNING_MS = 1000;
const WELL: StateEvent = { stale: false, code: null, owner: null };

/** Statuses of 4xx that another try may change. */
const PASSING = new Set([408, 429]);

/** Where a connection takes up. */
interface Resume {
  readonly lastId: string | null;
  /** The last that was told of the bank, if anything was. */
  readonly bank: StateEvent | null;
}

/**
 * Keeps one connection to the feed until the signal is aborted: a new one follows each that ends, fails or falls silent,
 * and resumes after the last event. Resolves when aborted, or after an answer that no repeat would change, which is
 * the last it tells.
 */
export async function keepConnected(
  feed: Feed,
  resume: Resume,
  tell: (message: FeedMessage) => void,
  signal: AbortSignal,
  silenceMs = SILENCE_MS,
): Promise<void> {
  const state = { ...resume, retryMs: RETRY_MS, failures: 0 };
  for (;;) {
    const problem = await listenOnce(feed, state, tell, signal, silenceMs);
    if (signal.aborted) return;
    tell({ type: 'connection', connected: false });
    if (problem && problem.status >= 400 && problem.status < 500 && !PASSING.has(problem.status)) {
      return tell({ type: 'error', problem: { ...toData(problem), retryAfterMs: null } });
    }
    const waitMs = toWait(state, problem);
    if (problem) tell({ type: 'error', problem: { ...toData(problem), retryAfterMs: waitMs } });
    await sleep(waitMs, signal).catch(() => undefined);
    if (signal.aborted) return;
  }
}

interface ConnectionState {
  lastId: string | null;
  bank: StateEvent | null;
  retryMs: number;
  failures: number;
}

/** One connection from its start to its end; null when the gateway ended it in good order. */
async function listenOnce(
  { url, fetch, headers: common }: Feed,
  state: ConnectionState,
  tell: (message: FeedMessage) => void,
  signal: AbortSignal,
  silenceMs: number,
): Promise<GatewayProblem | null> {
  const silence = createSilenceGuard(silenceMs);
  const either = AbortSignal.any([signal, silence.signal]);
  const headers = new Headers(common);
  headers.set('Accept', 'text/event-stream');
  if (state.lastId) headers.set('Last-Event-ID', state.lastId);
  state.failures += 1;
  let beginning: ReturnType<typeof setTimeout> | undefined;
  const tellBank = (event: StateEvent, id: string | null) => {
    clearTimeout(beginning);
    state.bank = event;
    tell({ type: 'state', id, event });
  };
  try {
    const response = await fetch(url, { headers, signal: either, cache: 'no-store' });
    if (response.status !== 200) return await readProblem(response);
    if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return toUnexpectedAnswer(response, 'An answer that is no event stream.');
    }
    state.failures = 0;
    tell({ type: 'connection', connected: true });
    if (isTrouble(state.bank)) beginning = setTimeout(() => tellBank(WELL, state.lastId), BEGINNING_MS);
    const parser = new EventStreamParser({
      onRetry: (ms) => void (state.retryMs = ms),
      onEvent: (event) => {
        // a queue of pieces may be read on after the end was asked for
        if (signal.aborted) return;
        state.lastId = event.id ?? state.lastId;
        const message = toFeedMessage(event, state.lastId);
        if (message?.type === 'state') tellBank(message.event, message.id);
        else if (message) tell(message);
      },
    });
    const decoder = new TextDecoder();
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return null;
      silence.heard();
      parser.push(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    return error instanceof GatewayProblem ? error : toNetworkProblem(error);
  } finally {
    clearTimeout(beginning);
    silence.end();
  }
}

const isTrouble = (bank: StateEvent | null): boolean => bank !== null && (bank.stale || bank.code !== null);

/** What the answer asks for; else the stream's own `retry`, doubled with each failure; with jitter, so that many do not return at once. */
function toWait({ retryMs, failures }: ConnectionState, problem: GatewayProblem | null): number {
  const doubled = Math.min(retryMs * 2 ** Math.max(0, failures - 1), Math.max(MAX_RETRY_MS, retryMs));
  return Math.round((problem?.retryAfterMs ?? doubled) * (1 + Math.random() / 2));
}

/** Aborts its signal when nothing was heard for so long. */
function createSilenceGuard(ms: number) {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(new Error(`nothing was heard for ${ms} ms`)), ms);
  let timer = start();
  return {
    signal: controller.signal,
    heard: () => {
      clearTimeout(timer);
      timer = start();
    },
    end: () => clearTimeout(timer),
  };
}

const toData = ({ code, owner, message, status, retryAfterMs, requestId }: GatewayProblem): ProblemData => ({
  code,
  owner,
  message,
  status,
  retryAfterMs,
  requestId,
});
