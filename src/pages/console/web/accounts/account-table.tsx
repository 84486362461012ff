import type { Account } from '../shared/gateway.js';
import type { Navigate } from './use-view.js';
import { widestFraction } from './amount.js';
import { turned, type SortField, type View } from './view.js';
import { Amount, Iban, Movement, Text } from './values.js';
import { ViewLink } from './view-link.js';

interface Props {
  /** Null until the first response. */
  readonly accounts: readonly Account[] | null;
  /** True if the rows belong to the previous view. */
  readonly dimmed: boolean;
  readonly changed: ReadonlySet<string>;
  readonly view: View;
  readonly navigate: Navigate;
  /** Printed at the top of each page. */
  readonly printHead: string;
}

const COLUMNS = [
  { name: 'Account', sort: 'name', class: 'c-name' },
  { name: 'IBAN or number', class: 'c-iban' },
  { name: 'Status', sort: 'status', class: 'c-status' },
  { name: 'Today', class: 'c-today' },
  { name: 'Current', sort: 'current', class: 'c-current' },
  { name: 'Currency', sort: 'currency', class: 'c-currency' },
] as const;

/** The balance shown in the list and used by `sort=current`: the first of type CurrentBalance. */
const currentBalance = ({ balances }: Account): Account['balances'][number] | null =>
  balances.find(({ type }) => type === 'CurrentBalance') ?? null;

const PLACEHOLDERS = Array.from({ length: 12 }, (_, index) => index);

/** The rows. Their roles are explicit, because the card layout of narrow screens removes the table semantics. */
export function AccountTable({ accounts, dimmed, changed, view, navigate, printHead }: Props) {
  const widest = widestFraction((accounts ?? []).map((account) => currentBalance(account)?.current ?? null));
  return (
    <div class="scroller">
      <table
        role="table"
        class={dimmed ? 'accounts dimmed' : 'accounts'}
        aria-busy={accounts === null || dimmed}
        onKeyDown={moveByArrows}
      >
        <caption class="hidden">Accounts</caption>
        <thead role="rowgroup">
          <tr class="print-head" aria-hidden="true">
            <td colSpan={COLUMNS.length}>{printHead}</td>
          </tr>
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
                <Row
                  key={account.id}
                  account={account}
                  widest={widest}
                  changed={changed.has(account.id)}
                  view={view}
                  navigate={navigate}
                />
              ))}
        </tbody>
      </table>
    </div>
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
      <button type="button" class="plain sort" onClick={() => navigate({ sort: turned(view.sort, sort) })}>
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
  readonly widest: number;
  readonly changed: boolean;
  readonly view: View;
  readonly navigate: Navigate;
}

function Row({ account, widest, changed, view, navigate }: RowProps) {
  const { id, name, iban, owner, status, closedAt, currency, identifiers } = account;
  const balance = currentBalance(account);
  const open = view.account === id;
  // a new key for each new amount, so that every change is highlighted
  const key = changed ? `${balance?.current}` : 'still';
  return (
    <tr
      role="row"
      class={`${closedAt === null ? '' : 'closed'}${open ? ' chosen' : ''}`}
      onClick={(event) => openByRow(event, () => navigate({ account: id }))}
    >
      <td role="cell" class="c-name">
        <ViewLink view={view} change={{ account: id }} navigate={navigate} pressed={open} class="open-account">
          <Text text={name} />
        </ViewLink>
        {owner.name !== null && (
          <span class="owner quiet">
            <Text text={owner.name} />
          </span>
        )}
      </td>
      <td role="cell" class="c-iban">
        <Iban text={iban ?? identifiers[0]?.account ?? null} />
      </td>
      <td role="cell" class="c-status">
        <span class={status === 'Active' ? '' : 'pill'}>
          <Text text={status} />
        </span>
      </td>
      <td role="cell" class="c-today">
        <Movement text={balance?.intraDay ?? null} widest={widest} />
      </td>
      <td role="cell" class="c-current">
        <span key={key} class={changed ? 'changed' : ''}>
          <Amount text={balance?.current ?? null} widest={widest} />
        </span>
      </td>
      <td role="cell" class="c-currency">
        <Text text={balance?.currency ?? currency} />
      </td>
    </tr>
  );
}

/** Opens the account on a click anywhere in the row; keyboards and screen readers use the link in it. */
function openByRow(event: MouseEvent, open: () => void): void {
  const selected = window.getSelection()?.isCollapsed === false;
  if (selected || (event.target instanceof Element && event.target.closest('a, button'))) return;
  open();
}

/** Moves up and down through the accounts, from one link to the next. */
function moveByArrows(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  if (!(event.currentTarget instanceof HTMLElement)) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.open-account')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (at === -1) return;
  event.preventDefault();
  links[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}
