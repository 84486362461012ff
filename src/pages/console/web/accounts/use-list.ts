import { useEffect, useState } from 'preact/hooks';
import type { AccountList, GatewayProblem } from '../shared/gateway.js';
import { client } from './client.js';
import { toListQuery, type View } from './view.js';

/** The page of accounts in a view, as it changes. */
export interface Listing {
  readonly data: AccountList | null;
  /** Snapshot of the last data; kept after its data have expired. */
  readonly snapshot: AccountList['snapshot'] | null;
  readonly problem: GatewayProblem | null;
  /** True if the data belongs to the previous view. */
  readonly pending: boolean;
  /** Accounts whose data changed with the last answer that brought data. */
  readonly changed: ReadonlySet<string>;
  /** Increases with each answer that brings data. */
  readonly turn: number;
}

const NONE: ReadonlySet<string> = new Set();

/** Watches the page of accounts in the view. A new `round` fetches it at once. */
export function useList(view: View, round: number): Listing {
  const query = toListQuery(view);
  const key = JSON.stringify(query);
  const [last, setLast] = useState<Omit<Listing, 'pending'> & { key: string | null }>({
    key: null,
    data: null,
    snapshot: null,
    problem: null,
    changed: NONE,
    turn: 0,
  });

  useEffect(() => {
    const watch = client.watch(query, {
      onData: (data, { changed }) =>
        setLast(({ turn }) => ({
          key,
          data,
          snapshot: data.snapshot,
          problem: null,
          changed: new Set(changed),
          turn: turn + 1,
        })),
      onConfirmed: (snapshot) =>
        setLast((before) => ({ ...before, snapshot, data: before.data && { ...before.data, snapshot } })),
      onExpired: () => setLast((before) => ({ ...before, data: null })),
      onError: (problem) =>
        setLast((before) => ({
          ...before,
          // data is hidden as soon as access is no longer granted
          ...(problem.code === 'access-not-granted' && { data: null, snapshot: null }),
          problem,
          changed: NONE,
        })),
    });
    return () => watch.close();
  }, [key, round]);

  const { key: lastKey, ...listing } = last;
  return { ...listing, pending: lastKey !== key };
}
