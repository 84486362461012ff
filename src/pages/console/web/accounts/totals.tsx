import { useState } from 'preact/hooks';
import { widestFraction } from './amount.js';
import { toGrouped } from '../shared/count.js';
import type { BalancesAnswer } from '../shared/gateway.js';
import { client } from './client.js';
import { useAnswer, type Answer } from '../shared/use-answer.js';
import type { Navigate } from './use-view.js';
import { toFilters, type View } from './view.js';
import { AsOf } from './as-of.js';
import { CopyButton } from '../shared/copy-button.js';
import { Amount, Text } from './values.js';
import { ViewLink } from './view-link.js';

/** Columns of the first row of totals; the others follow on request. */
const COLUMNS = 6;
/** A sum with more characters takes two columns. */
const NARROW = 15;

interface Props {
  readonly answer: Answer<BalancesAnswer>;
  readonly view: View;
  readonly navigate: Navigate;
}

/** The current balances summed by currency. A currency filters by it. */
export function Totals({ answer: { data, problem }, view, navigate }: Props) {
  const [all, setAll] = useState(false);
  const totals = data?.totals ?? [];
  const few = countFirst(totals);
  const widest = widestFraction(totals.map(({ current }) => current));
  const notes = useNotes(totals, view);
  return (
    <section class="card totals" aria-labelledby="totals">
      <div class="head row">
        <h2 id="totals">Totals</h2>
        {data && <AsOf snapshot={data.snapshot} />}
        <p class="quiet grow">{notes}</p>
        {totals.length > few && (
          <button type="button" class="plain" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `${totals.length - few} more`}
          </button>
        )}
        {totals.length > 0 && (
          <CopyButton class="plain" name="Copy" label="Copy the totals" text={() => toText(data)} />
        )}
      </div>
      {totals.length === 0 && (data || problem) && (
        <p class="quiet">{data ? 'No balances to add up.' : 'No totals to show.'}</p>
      )}
      {totals.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Currency</th>
              <th scope="col">Accounts</th>
              <th scope="col">Current</th>
            </tr>
          </thead>
          <tbody>
            {totals.map(({ currency, accounts, current }, index) => (
              <tr
                key={currency ?? ''}
                class={[
                  view.currency === currency ? 'chosen' : '',
                  all || index < few ? '' : 'print-only',
                  isWide(current) ? 'wide' : '',
                ].join(' ')}
              >
                <th scope="row">
                  <ViewLink
                    view={view}
                    change={{ currency: view.currency === currency ? '' : (currency ?? '') }}
                    navigate={navigate}
                    pressed={view.currency === currency}
                  >
                    <Text text={currency} />
                  </ViewLink>
                </th>
                <td class="quiet">
                  {toGrouped(accounts)} <span class="unit">{accounts === 1 ? 'account' : 'accounts'}</span>
                </td>
                <td>
                  <Amount text={current} widest={widest} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const isWide = (amount: string | null): boolean => (amount?.length ?? 0) > NARROW;

/** Number of totals in the first row. */
function countFirst(totals: BalancesAnswer['totals']): number {
  let columns = 0;
  const next = totals.findIndex(({ current }) => (columns += isWide(current) ? 2 : 1) > COLUMNS);
  return next === -1 ? totals.length : next;
}

/** Description of the accounts in the sums. */
function useNotes(totals: BalancesAnswer['totals'], view: View): string {
  const { currency: _currency, ...filters } = toFilters(view);
  const query = { ...filters, status: 'Closed', pageSize: 1 };
  // fetched again when a sum or a number of accounts has changed
  const closed = useAnswer(JSON.stringify([query, totals]), 0, (signal) =>
    view.status === '' && totals.length > 0
      ? client.listAccounts(query, { signal, retry: false })
      : Promise.resolve(null),
  ).data?.page.total;
  const missing = totals.reduce((sum, each) => sum + each.missing, 0);
  const parts = [
    closed ? `${closed} closed ${closed === 1 ? 'account' : 'accounts'}` : '',
    missing > 0 ? `${missing} ${missing === 1 ? 'entry that lacks' : 'entries that lack'} an amount` : '',
  ].filter(Boolean);
  const included = parts.length > 0 ? ` Includes ${parts.join(' and ')}.` : '';
  return totals.length > 0 ? `An account counts in each currency of its current balances.${included}` : '';
}

/** The totals as tab-separated text for a spreadsheet, with unchanged amounts. */
function toText(data: BalancesAnswer | null): string {
  const rows = (data?.totals ?? []).map(({ currency, accounts, current }) => [currency, accounts, current].join('\t'));
  return [`Currency\tAccounts\tCurrent (as of ${data?.snapshot.asOf})`, ...rows, ''].join('\n');
}
