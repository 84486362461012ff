import { useEffect, useRef, useState } from 'preact/hooks';
import type { Navigate } from './use-view.js';
import { DEFAULT_VIEW, toFilters, toSort, type Sort, type View } from './view.js';

const TYPING_MS = 200;
const MAX_LENGTH = 100;

interface Props {
  readonly view: View;
  readonly navigate: Navigate;
  readonly currencies: readonly string[];
  /** Owners of the shown accounts, to find the name of the owner in the filter. */
  readonly owners: readonly { readonly id: string | null; readonly name: string | null }[];
}

/** Values known to come from banks. The address may add another one. */
const STATUSES = ['Active', 'Closed'];

const SORT_NAMES: Readonly<Record<Sort, string>> = {
  name: 'Name',
  '-name': 'Name, Z to A',
  current: 'Currency, then lowest balance',
  '-current': 'Currency Z to A, then highest balance',
  currency: 'Currency',
  '-currency': 'Currency, Z to A',
  status: 'Status',
  '-status': 'Status, Z to A',
  openedAt: 'Opened, oldest first',
  '-openedAt': 'Opened, newest first',
};

/** Search, filters and sort order, as they are in the address bar. */
export function Filters({ view, navigate, currencies, owners }: Props) {
  const active = Object.keys(toFilters(view)).length > 0;
  const owner = owners.find(({ id }) => id === view.ownerId)?.name ?? view.ownerId;
  return (
    <form class="filters row" role="search" onSubmit={(event) => event.preventDefault()}>
      <Search view={view} navigate={navigate} />
      <Choice
        label="Status"
        all="All statuses"
        value={view.status}
        options={STATUSES.map((value) => [value, value])}
        onChoose={(status) => navigate({ status })}
      />
      <Choice
        label="Currency"
        all="All currencies"
        value={view.currency}
        options={currencies.map((value) => [value, value])}
        onChoose={(currency) => navigate({ currency })}
      />
      {view.ownerId !== '' && (
        <Choice
          label="Owner"
          all="All owners"
          value={view.ownerId}
          options={[[view.ownerId, owner]]}
          onChoose={(ownerId) => navigate({ ownerId })}
        />
      )}
      <Choice
        label="Sort"
        value={view.sort}
        options={Object.entries(SORT_NAMES)}
        onChoose={(sort) => navigate({ sort: toSort(sort) })}
      />
      {active && (
        <button
          type="button"
          class="plain"
          onClick={() => navigate({ ...DEFAULT_VIEW, sort: view.sort, pageSize: view.pageSize })}
        >
          Clear
        </button>
      )}
    </form>
  );
}

function Search({ view: { q }, navigate }: Pick<Props, 'view' | 'navigate'>) {
  const [typed, setTyped] = useState(q);
  const timer = useRef<number | undefined>(undefined);
  const given = useRef(q);

  // Back, Forward and "clear" change `q` from outside this field
  useEffect(() => {
    if (q !== given.current) setTyped(q);
    given.current = q;
  }, [q]);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  function give(text: string, waitMs: number): void {
    setTyped(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      // one step back leaves the search instead of undoing its letters
      const replace = given.current !== '';
      given.current = text.trim();
      navigate({ q: given.current }, { replace });
    }, waitMs);
  }

  return (
    <>
      <label class="hidden" for="search">
        Search
      </label>
      <input
        id="search"
        type="search"
        placeholder="Name, IBAN, owner ( / )"
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
        value={typed}
        onInput={({ currentTarget }) => give(currentTarget.value, TYPING_MS)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') give(currentTarget.value, 0);
          if (key === 'Escape') give('', 0);
        }}
      />
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** Label of the "no filter" option; the sort order has none. */
  readonly all?: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, all, value, options, onChoose }: ChoiceProps) {
  // the filter ignores case, and the address bar may have a value that is not in the list
  const known = options.find(([each]) => each.toLowerCase() === value.toLowerCase());
  return (
    <select
      aria-label={label}
      class={all === undefined ? 'narrow-only' : ''}
      value={known?.[0] ?? value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {all !== undefined && <option value="">{all}</option>}
      {value !== '' && !known && <option value={value}>{value}</option>}
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
