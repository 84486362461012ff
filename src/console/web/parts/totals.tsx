import type { BalancesAnswer } from '../gateway.js';
import type { Answer } from '../use-answer.js';
import type { Navigate } from '../use-view.js';
import { toFilters, type View } from '../view.js';
import { Amount, Text } from './figures.js';
import { ViewLink } from './view-link.js';

interface Props {
  readonly answer: Answer<BalancesAnswer>;
  readonly view: View;
  readonly navigate: Navigate;
}

/** So many characters fit into one place of the grid. */
const NARROW = 13;
const PLACEHOLDERS = [0, 1, 2, 3, 4, 5];

/** The current balances summed by currency, of the accounts that match. */
export function Totals({ answer: { data, problem }, view, navigate }: Props) {
  const totals = data?.totals ?? [];
  const filtered = Object.keys(toFilters(view)).length > 0;
  return (
    <section aria-labelledby="totals">
      <h2 id="totals" class="small">
        Totals by currency{filtered ? ', of the accounts found' : ''}
      </h2>
      {totals.length === 0 && (data || problem) ? (
        <p class="quiet">Nothing to add up.</p>
      ) : (
        <ul class="totals">
          {data === null
            ? PLACEHOLDERS.map((each) => <li key={each} class="total placeholder" aria-hidden="true" />)
            : totals.map(({ currency, accounts, missing, current }) => (
                <li key={currency ?? ''} class={(current?.length ?? 0) > NARROW ? 'total wide' : 'total'}>
                  <ViewLink
                    view={view}
                    change={{ currency: view.currency === currency ? '' : (currency ?? '') }}
                    navigate={navigate}
                    pressed={view.currency === currency}
                  >
                    <span class="currency">
                      <Text text={currency} />
                    </span>
                    <span class="total-note">
                      {accounts} {accounts === 1 ? 'account' : 'accounts'}
                      {missing > 0 && `, ${missing} without amount`}
                    </span>
                    <Amount text={current} />
                  </ViewLink>
                </li>
              ))}
        </ul>
      )}
    </section>
  );
}
