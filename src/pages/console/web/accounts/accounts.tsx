import type { ComponentChildren } from 'preact';
import { toAccounts, toGrouped } from '../shared/count.js';
import type { AccountList } from '../shared/gateway.js';
import type { Listing } from './use-list.js';
import type { Navigate } from './use-view.js';
import { DEFAULT_VIEW, filterShown, toFilters, type View } from './view.js';
import { AccountTable } from './account-table.js';
import { AsOf } from './as-of.js';
import { CsvLink } from './csv-link.js';
import { Filters } from './filters.js';
import { Pages } from './pages.js';

interface Props {
  readonly listing: Listing;
  readonly view: View;
  readonly navigate: Navigate;
  readonly currencies: readonly string[];
  readonly gone: boolean;
  /** True if the balances have expired: there is nothing to filter or save. */
  readonly expired: boolean;
  /** Name of the environment. */
  readonly environment: string;
  readonly host: string;
  readonly children: ComponentChildren;
}

/** One page of the accounts, searched, filtered and sorted. */
export function Accounts({ listing, view, navigate, currencies, gone, expired, environment, host, children }: Props) {
  const { data, problem, pending, changed } = listing;
  const filtered = Object.keys(toFilters(view)).length > 0;
  // the gateway is unreachable: the search uses what is on the page
  const local = gone && pending && data !== null;
  const accounts = local ? filterShown(data.accounts, view) : (data?.accounts ?? null);
  const failed = problem !== null && !gone && (data === null || (pending && problem.status === 400));
  const isUnavailable = expired || (failed && problem.status !== 400);
  const printHead = `Accounts gateway · ${environment} · ${host} · as of ${data?.snapshot.asOf ?? 'unknown'}`;
  return (
    <section id="accounts" aria-labelledby="accounts-title" tabIndex={-1}>
      <div class="head row">
        <h2 id="accounts-title">Accounts</h2>
        {data && !failed && <AsOf snapshot={data.snapshot} />}
        <p class="quiet grow" role="status">
          {local
            ? `${accounts?.length} of the last ${data.accounts.length} accounts loaded; the gateway does not answer`
            : data && !pending && !failed
              ? toCount(data, filtered)
              : ''}
        </p>
        {!isUnavailable && <CsvLink view={view} environment={environment} />}
      </div>
      {!expired && (
        <Filters
          view={view}
          navigate={navigate}
          currencies={currencies}
          owners={accounts?.map(({ owner }) => owner) ?? []}
        />
      )}
      <div class="beside stack">
        <div class="card">
          {failed || accounts?.length === 0 ? (
            <Empty listing={listing} failed={failed} filtered={filtered} navigate={navigate} />
          ) : (
            <AccountTable
              accounts={accounts}
              dimmed={pending && data !== null && !local}
              changed={changed}
              view={view}
              navigate={navigate}
              printHead={printHead}
            />
          )}
          {data && !failed && !local && <Pages page={data.page} view={view} navigate={navigate} />}
        </div>
        {children}
      </div>
    </section>
  );
}

function toCount({ page, accounts }: AccountList, filtered: boolean): string {
  const { total, number, size } = page;
  const first = (number - 1) * size + 1;
  const all = toGrouped(total);
  if (total === 0 || accounts.length === 0 || (total <= size && number === 1))
    return `${all} ${filtered ? 'found' : 'in total'}`;
  return `${toGrouped(first)}–${toGrouped(first + accounts.length - 1)} of ${all}${filtered ? ' found' : ''}`;
}

interface EmptyProps {
  readonly listing: Listing;
  readonly failed: boolean;
  readonly filtered: boolean;
  readonly navigate: Navigate;
}

/** Explains why the table is empty, and what to do. */
function Empty({ listing: { data, problem }, failed, filtered, navigate }: EmptyProps) {
  if (failed && problem?.code === 'invalid-request') {
    const text = problem.errors.map(({ name, reason }) => `${name} ${reason}`).join('; ');
    return <Notice title="This search is not valid" text={text} action={<ShowAll navigate={navigate} />} />;
  }
  if (failed) return <Notice title="No accounts to show" text={problem?.message ?? ''} />;
  if (data && data.page.total > 0 && data.accounts.length === 0) {
    const action = (
      <button type="button" onClick={() => navigate({ pageNumber: 1 })}>
        To the first page
      </button>
    );
    return (
      <Notice title="No such page" text={`The ${toAccounts(data.page.total)} fill fewer pages.`} action={action} />
    );
  }
  if (filtered) {
    const text = 'The search covers names, descriptions, IBANs, account numbers and owners.';
    return <Notice title="No account matches" text={text} action={<ShowAll navigate={navigate} />} />;
  }
  return <Notice title="No accounts" text="The bank lists none." />;
}

const ShowAll = ({ navigate }: { readonly navigate: Navigate }) => (
  <button type="button" onClick={() => navigate({ ...DEFAULT_VIEW })}>
    Show all accounts
  </button>
);

interface NoticeProps {
  readonly title: string;
  readonly text: string;
  readonly action?: ComponentChildren;
}

const Notice = ({ title, text, action }: NoticeProps) => (
  <div class="notice stack">
    <h2>{title}</h2>
    <p class="quiet">{text}</p>
    {action}
  </div>
);
