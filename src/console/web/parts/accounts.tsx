import type { ComponentChildren } from 'preact';
import { widestFraction } from '../amount.js';
import type { AccountList } from '../gateway.js';
import type { Trouble } from '../picture.js';
import type { Answer } from '../use-answer.js';
import type { Live } from '../use-live.js';
import type { Navigate } from '../use-view.js';
import { currentBalance } from '../balance.js';
import { DEFAULT_VIEW, toCsvAddress, toFilters, type View } from '../view.js';
import { AccountTable } from './account-table.js';
import { Filters } from './filters.js';
import { Icon } from './icon.js';
import { Pages } from './pages.js';

interface Props {
  readonly answer: Answer<AccountList>;
  readonly moved: ReadonlySet<string>;
  readonly view: View;
  readonly navigate: Navigate;
  readonly live: Live;
  readonly troubles: readonly Trouble[];
}

const DOWNLOAD = 'M8 2.5v7.5M4.8 7.2 8 10.4l3.2-3.2M3 13.4h10';

/** The accounts: searched, filtered, sorted, one page. */
export function Accounts({ answer, moved, view, navigate, live, troubles }: Props) {
  const { data, problem, pending } = answer;
  const filtered = Object.keys(toFilters(view)).length > 0;
  const amounts = (data?.accounts ?? []).map((account) => currentBalance(account)?.current ?? null);
  return (
    <section id="accounts" aria-labelledby="accounts-title" tabIndex={-1}>
      <div class="section-head">
        <h2 id="accounts-title">Accounts</h2>
        <p class="count" role="status">
          {data && !pending ? toCount(data, filtered) : ''}
        </p>
        <a class="button" href={toCsvAddress(view)} download>
          <Icon path={DOWNLOAD} /> CSV
        </a>
      </div>
      <Filters view={view} navigate={navigate} accounts={live.health?.details.snapshot.accounts ?? null} />
      <div class="card table-card" style={{ '--fraction': `${Math.min(widestFraction(amounts), 6)}ch` }}>
        <AccountTable
          accounts={data?.accounts ?? null}
          dimmed={pending && data !== null}
          moved={moved}
          view={view}
          navigate={navigate}
          empty={<Empty answer={answer} filtered={filtered} navigate={navigate} trouble={troubles[0]} />}
          failed={problem !== null && data === null}
        />
        {data && <Pages page={data.page} view={view} navigate={navigate} />}
      </div>
    </section>
  );
}

function toCount({ page, accounts }: AccountList, filtered: boolean): string {
  const { total, number, size } = page;
  const first = (number - 1) * size + 1;
  const what = filtered ? 'found' : 'in all';
  if (total === 0 || accounts.length === 0) return `${total} ${what}`;
  return total <= size && number === 1
    ? `${total} ${what}`
    : `${first}–${first + accounts.length - 1} of ${total} ${what}`;
}

interface EmptyProps {
  readonly answer: Answer<AccountList>;
  readonly filtered: boolean;
  readonly navigate: Navigate;
  readonly trouble: Trouble | undefined;
}

/** Why there is nothing in the table, and what to do about it. */
function Empty({ answer: { data, problem }, filtered, navigate, trouble }: EmptyProps) {
  if (problem && !data) {
    if (problem.code === 'invalid-request') {
      return (
        <Notice
          title="This search cannot be understood"
          text={problem.errors.map(({ name, reason }) => `${name} ${reason}`).join('; ')}
        >
          <Clear navigate={navigate} />
        </Notice>
      );
    }
    return <Notice title="No accounts to show" text={trouble?.title ?? problem.message} />;
  }
  if (data && data.page.total > 0) {
    return (
      <Notice title="This page is empty" text={`There are ${data.page.total} accounts, on fewer pages.`}>
        <button type="button" onClick={() => navigate({ pageNumber: 1 })}>
          To the first page
        </button>
      </Notice>
    );
  }
  if (filtered) {
    return (
      <Notice title="No account matches" text="Search looks at names, descriptions, IBANs, numbers and owners.">
        <Clear navigate={navigate} />
      </Notice>
    );
  }
  return <Notice title="No accounts" text="The bank has granted an empty list." />;
}

const Clear = ({ navigate }: { readonly navigate: Navigate }) => (
  <button type="button" onClick={() => navigate({ ...DEFAULT_VIEW })}>
    Show all accounts
  </button>
);

function Notice({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="notice">
      <h3>{title}</h3>
      <p>{text}</p>
      {children}
    </div>
  );
}
