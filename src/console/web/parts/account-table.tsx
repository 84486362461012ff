import type { ComponentChildren } from 'preact';
import { currentBalance } from '../balance.js';
import type { Account } from '../gateway.js';
import { toMoment, toWrittenDate } from '../time.js';
import type { Navigate } from '../use-view.js';
import { turned, type SortField, type View } from '../view.js';
import { Amount, Iban, Text } from './figures.js';
import { ViewLink } from './view-link.js';

interface Props {
  /** Null while nothing is known. */
  readonly accounts: readonly Account[] | null;
  /** They are those of the question before. */
  readonly dimmed: boolean;
  readonly moved: ReadonlySet<string>;
  readonly view: View;
  readonly navigate: Navigate;
  readonly empty: ComponentChildren;
  readonly failed: boolean;
}

const COLUMNS = [
  { name: 'Account', sort: 'name', class: 'c-name' },
  { name: 'IBAN', class: 'c-iban' },
  { name: 'Owner', class: 'c-owner' },
  { name: 'Status', sort: 'status', class: 'c-status' },
  { name: 'Opened', sort: 'openedAt', class: 'c-opened' },
  { name: 'Currency', sort: 'currency', class: 'c-currency' },
  { name: 'Current', sort: 'current', class: 'c-current' },
  { name: 'Last moved', class: 'c-moved' },
] as const;

const PLACEHOLDERS = Array.from({ length: 12 }, (_, index) => index);

/** The rows; the roles are said because narrow screens lay them out as cards, which takes the meaning of a table away. */
export function AccountTable({ accounts, dimmed, moved, view, navigate, empty, failed }: Props) {
  if (failed || accounts?.length === 0) return <>{empty}</>;
  return (
    <table
      role="table"
      class={dimmed ? 'accounts dimmed' : 'accounts'}
      aria-busy={accounts === null || dimmed}
      onKeyDown={moveByArrows}
    >
      <caption class="hidden">Accounts</caption>
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((column) => (
            <Head key={column.name} column={column} view={view} navigate={navigate} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {accounts === null
          ? PLACEHOLDERS.map((each) => (
              <tr key={each} role="row" class="placeholder-row">
                <td role="cell" colSpan={COLUMNS.length}>
                  <span class="placeholder" />
                </td>
              </tr>
            ))
          : accounts.map((account) => (
              <Row key={account.id} account={account} moved={moved.has(account.id)} view={view} navigate={navigate} />
            ))}
      </tbody>
    </table>
  );
}

interface HeadProps {
  readonly column: { readonly name: string; readonly sort?: SortField; readonly class: string };
  readonly view: View;
  readonly navigate: Navigate;
}

function Head({ column: { name, sort, class: className }, view, navigate }: HeadProps) {
  if (sort === undefined) {
    return (
      <th role="columnheader" scope="col" class={className}>
        {name}
      </th>
    );
  }
  const direction = view.sort === sort ? 'ascending' : view.sort === `-${sort}` ? 'descending' : undefined;
  return (
    <th role="columnheader" scope="col" class={className} aria-sort={direction}>
      <button type="button" class="sort" onClick={() => navigate({ sort: turned(view.sort, sort) })}>
        {name}
        <span class="arrow" aria-hidden="true">
          {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
        </span>
      </button>
    </th>
  );
}

interface RowProps {
  readonly account: Account;
  readonly moved: boolean;
  readonly view: View;
  readonly navigate: Navigate;
}

function Row({ account, moved, view, navigate }: RowProps) {
  const { id, name, iban, owner, status, openedAt, closedAt, currency, identifiers } = account;
  const balance = currentBalance(account);
  const number = iban ?? identifiers[0]?.account ?? null;
  // a new key for a new amount: the mark of a change is seen each time
  const key = moved ? `${balance?.current}` : 'still';
  return (
    <tr
      role="row"
      class={closedAt === null ? '' : 'closed'}
      onClick={(event) => openByRow(event, () => navigate({ account: id }))}
    >
      <td role="cell" class="c-name" title={name}>
        <ViewLink view={view} change={{ account: id }} navigate={navigate} class="open-account">
          <Text text={name} />
        </ViewLink>
      </td>
      <td role="cell" class="c-iban">
        <Iban text={number} />
      </td>
      <td role="cell" class="c-owner" title={owner.name ?? undefined}>
        <Text text={owner.name} />
      </td>
      <td role="cell" class="c-status">
        <span class={status === 'Active' ? 'pill' : 'pill pill-quiet'}>
          <Text text={status} />
        </span>
      </td>
      <td role="cell" class="c-opened">
        {openedAt ? toWrittenDate(openedAt) : <span class="none">–</span>}
      </td>
      <td role="cell" class="c-currency">
        <Text text={balance?.currency ?? currency} />
      </td>
      <td role="cell" class="c-current">
        <span key={key} class={moved ? 'moved' : ''}>
          <Amount text={balance?.current ?? null} />
        </span>
      </td>
      <td role="cell" class="c-moved">
        {balance?.lastTransactionAt ? (
          <time dateTime={balance.lastTransactionAt}>{toMoment(balance.lastTransactionAt)}</time>
        ) : (
          <span class="none">–</span>
        )}
      </td>
    </tr>
  );
}

/** Anywhere in a row, for the mouse; the link in it is for everybody. */
function openByRow(event: MouseEvent, open: () => void): void {
  const selected = window.getSelection()?.isCollapsed === false;
  if (selected || (event.target instanceof Element && event.target.closest('a, button'))) return;
  open();
}

/** Up and down through the accounts, from one link to the next. */
function moveByArrows(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  if (!(event.currentTarget instanceof HTMLElement)) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.open-account')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (at === -1) return;
  event.preventDefault();
  links[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}
