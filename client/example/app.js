// A page without a framework: a list, its sums, live updates, errors by code. See docs/web-apps.md.
import { createClient, GatewayProblem } from '../dist/index.js';

const baseUrl = new URLSearchParams(location.search).get('gateway') ?? 'http://localhost:3000';
const client = createClient({ baseUrl, clientName: 'example' });

const element = (id) => document.getElementById(id);
const filter = { q: undefined };
let watch = null;
let reading = null;
/** What the feed says of the bank, and what the last call failed with; as texts. */
const trouble = { bank: null, call: null };

element('search').addEventListener('submit', (event) => {
  event.preventDefault();
  // a filter that is empty is an error of the caller: leave it out
  filter.q = new FormData(event.target).get('q').trim() || undefined;
  follow();
});
follow();

/** Watches what the filter says. The first event comes at once, so that the page is read for the first time by it, too. */
function follow() {
  watch?.close();
  watch = client.watch(filter, {
    onSnapshot: ({ changed }) => read(changed),
    onReset: () => read(),
    onState: ({ code, owner }) => {
      trouble.bank = code && `What is shown may be old (${code}, ${owner} must act).`;
      read();
    },
    onConnection: (connected) => {
      element('live').textContent = connected ? 'live' : 'not connected';
      // what had failed may go well now
      if (connected && trouble.call) read();
    },
    onError: showError,
  });
}

/** Reads all that is shown. What has not changed is a 304 each. */
async function read(changed = []) {
  // an older call must not overwrite a newer one
  reading?.abort();
  const controller = (reading = new AbortController());
  const { signal } = controller;
  try {
    const [list, balances] = await Promise.all([
      client.listAccounts({ ...filter, pageSize: 50 }, { signal }),
      client.getBalances(filter, { signal }),
    ]);
    trouble.call = null;
    showTrouble();
    showAccounts(list, new Set(changed));
    showRows(
      'totals',
      balances.totals.map(({ currency, accounts, current }) => [currency, accounts, amount(current)]),
    );
  } catch (error) {
    if (!signal.aborted) showError(error);
  }
}

function showAccounts({ accounts, page, snapshot }, changed) {
  const rows = accounts.map(({ name, iban, currency, balances }) => {
    const current = balances.find(({ type }) => type === 'CurrentBalance');
    return [name, iban ?? '', current?.currency ?? currency, amount(current?.current)];
  });
  showRows('accounts', rows, (index) => changed.has(accounts[index].id));
  const time = new Date(snapshot.asOf).toLocaleTimeString();
  const age = snapshot.stale ? ', an older copy' : '';
  element('freshness').textContent = `${page.total} accounts as of ${time}${age}`;
}

function showRows(id, rows, isChanged = () => false) {
  element(id).replaceChildren(
    ...rows.map((cells, index) => {
      const row = document.createElement('tr');
      row.className = isChanged(index) ? 'changed' : '';
      row.append(
        ...cells.map((text, column) => {
          const cell = document.createElement('td');
          // as text: names come from outside
          cell.textContent = text;
          if (column === cells.length - 1) cell.className = 'amount';
          return cell;
        }),
      );
      return row;
    }),
  );
}

/** A decimal string for people, with all its digits: Intl formats it exactly. */
function amount(decimal) {
  if (decimal == null) return '–';
  const digits = decimal.split('.')[1]?.length ?? 0;
  return new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    decimal,
  );
}

function showError(error) {
  if (!(error instanceof GatewayProblem)) throw error;
  const { code, owner, message, requestId, retryAfterMs } = error;
  const again = retryAfterMs === null ? '' : ` Again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  const advice = {
    'network-error': `Is the gateway at ${baseUrl}, and does its CORS_ORIGINS list ${location.origin}?`,
    'invalid-request': 'Please search for something else.',
    'access-not-granted': 'The bank has granted no accounts. Tell the people who run the gateway.',
  }[code];
  trouble.call = `${advice ?? message} (${code}, ${owner} must act, request ${requestId ?? 'unknown'})${again}`;
  showTrouble();
}

function showTrouble() {
  const text = [trouble.call, trouble.bank].filter(Boolean).join(' ');
  element('problem').textContent = text;
  element('problem').hidden = text === '';
}
