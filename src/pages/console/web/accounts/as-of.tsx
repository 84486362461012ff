import { toClock, toMinute } from '../shared/time.js';

/** The time of the data. Only an old copy is marked and shows seconds. */
export const AsOf = ({ snapshot: { asOf, stale } }: { readonly snapshot: { asOf: string; stale: boolean } }) => (
  <time class={stale ? 'as-of stale' : 'as-of'} dateTime={asOf}>
    as of {stale ? toClock(asOf) : toMinute(asOf)}
  </time>
);
