import { useEffect, useState } from 'preact/hooks';
import { toProblem, type GatewayProblem } from './gateway.js';

const RETRY_MS = 5000;

/** The last successful response, and the problem of the last attempt. */
export interface Answer<T> {
  readonly data: T | null;
  readonly problem: GatewayProblem | null;
  /** True if the data belongs to another key. */
  readonly pending: boolean;
}

/**
 * Fetches when `key` or `turn` changes, and retries after any error but a 4xx. Data stays until newer data arrives, the
 * gateway answers another key with an error, or the bank withdraws access.
 */
export function useAnswer<T>(key: string, turn: number | string, load: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [last, setLast] = useState<{ key: string | null; data: T | null; problem: GatewayProblem | null }>({
    key: null,
    data: null,
    problem: null,
  });
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    const controller = new AbortController();
    let timer: number | undefined;
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setLast({ key, data, problem: null });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const problem = toProblem(error);
        const kept = problem.code !== 'access-not-granted';
        // without any response, the shown data stays
        const same = (before: string | null) => before === key || problem.status === 0;
        setLast((before) => ({ key, data: kept && same(before.key) ? before.data : null, problem }));
        // a wrong query stays wrong
        if (problem.status >= 400 && problem.status < 500) return;
        timer = window.setTimeout(() => setAttempt((count) => count + 1), problem.retryAfterMs ?? RETRY_MS);
      },
    );
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [key, turn, attempt]);

  return { data: last.data, problem: last.key === key ? last.problem : null, pending: last.key !== key };
}
