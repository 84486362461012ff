// A page without a framework: a list that follows the bank, its sums, errors by code. See docs/web-apps.md.
import { createClient, formatAmount, GatewayProblem } from '../dist/index.js';

const baseUrl = new URLSearchParams(location.search).get('gateway') ?? 'http://localhost:3000';
const client = createClient({ baseUrl, clientName: 'example' });

const element = (id) => document.getElementById(id);
let watch = null;

element('search').addEventListener('submit', (event) => {
  event.preventDefault();
  follow(new FormData(event.target).get('q').trim());
});
follow('');

/** Shows the matching accounts and updates them on every change. The client omits an empty search. */
function follow(q) {
  watch?.close();
  watch = client.watch(
    { q, pageSize: 50 },
    {
      onData: (list, { added, changed }) => {
        showProblem(null);
        showAccounts(list, new Set([...added, ...changed]));
        showTotals(q);
      },
      onError: showProblem,
    },
  );
}

/** Reloads the totals when the accounts change. Unchanged totals cost a 304. */
async function showTotals(q) {
  try {
    const { totals } = await client.getBalances({ q });
    showRows(
      'totals',
      totals.map(({ currency, accounts, current }) => [currency, accounts, formatAmount(current, currency)]),
    );
  } catch (error) {
    showProblem(error);
  }
}

function showAccounts({ accounts, page, snapshot }, marked) {
  const rows = accounts.map(({ name, iban, currency, balances }) => {
    const balance = balances.find(({ type }) => type === 'CurrentBalance');
    return [name, iban ?? '', formatAmount(balance?.current ?? null, balance?.currency ?? currency)];
  });
  showRows('accounts', rows, (index) => marked.has(accounts[index].id));
  const time = new Date(snapshot.asOf).toLocaleTimeString();
  const copy = snapshot.stale ? `, an older copy of ${time}` : '';
  element('freshness').textContent = `${page.total} accounts${copy}`;
}

function showRows(id, rows, isMarked = () => false) {
  element(id).replaceChildren(
    ...rows.map((cells, index) => {
      const row = document.createElement('tr');
      row.className = isMarked(index) ? 'changed' : '';
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

/** Shows a problem; null removes the last one. The accounts stay visible, unless the access was withdrawn. */
function showProblem(problem) {
  element('problem').hidden = problem === null;
  if (problem === null) return;
  if (!(problem instanceof GatewayProblem)) throw problem;
  const { code, owner, message, requestId } = problem;
  if (code === 'access-not-granted') for (const id of ['accounts', 'totals']) showRows(id, []);
  const advice = {
    'network-error': `Is the gateway at ${baseUrl}, and does its CORS_ORIGINS list ${location.origin}?`,
    'invalid-request': 'Please search for something else.',
    'access-not-granted': 'The bank has granted no accounts. Tell the operator of the gateway.',
  }[code];
  element('problem').textContent =
    `${advice ?? message} (${code}, ${owner} must act, request ${requestId ?? 'unknown'})`;
}
