import { useEffect, useState } from 'preact/hooks';
import { toProblem, type GatewayProblem } from './gateway.js';

const RETRY_MS = 5000;

/** What was last answered to a question, and what is wrong with asking again. */
export interface Answer<T> {
  /** Of the last question that was answered; it stays while a new one is asked. */
  readonly data: T | null;
  readonly problem: GatewayProblem | null;
  /** The data are of another question than the present one. */
  readonly pending: boolean;
}

/**
 * Asks again when the key or the turn changes, and after a failure until it goes well. A change of the turn is silent: what is
 * shown stays until there is something newer.
 */
export function useAnswer<T>(key: string, turn: number, load: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [held, setHeld] = useState<{ key: string | null; data: T | null; problem: GatewayProblem | null }>({
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
        if (!controller.signal.aborted) setHeld({ key, data, problem: null });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const problem = toProblem(error);
        // what another question was answered is nothing to show with this problem, nor what may not be seen any more
        const kept = problem.code !== 'access-not-granted';
        setHeld((before) => ({ key, data: kept && before.key === key ? before.data : null, problem }));
        // a question that is wrong stays so
        if (problem.status >= 400 && problem.status < 500) return;
        timer = window.setTimeout(() => setAttempt((count) => count + 1), problem.retryAfterMs ?? RETRY_MS);
      },
    );
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [key, turn, attempt]);

  return { data: held.data, problem: held.key === key ? held.problem : null, pending: held.key !== key };
}
