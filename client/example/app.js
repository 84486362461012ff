// A page without a framework: a live list, its sums, and errors by code. See docs/web-apps.md.
import { createClient, formatAmount, GatewayProblem } from '../dist/index.js';

const parameters = new URLSearchParams(location.search);
const baseUrl = parameters.get('gateway') ?? 'http://localhost:3000';
const client = createClient({ baseUrl, clientName: 'example', fetch: await fetchOf(parameters.get('scene')) });

const element = (id) => document.getElementById(id);
const toTime = ({ asOf }) => new Date(asOf).toLocaleTimeString();
const TOTALS_EVERY_MS = 10_000;
let watch = null;
/** The search shown on the page. */
let q = '';
/** Time at which the totals expire, ms. */
let totalsEnd = Infinity;
/** The accounts that match, on all pages. */
let matches = 0;

element('search').addEventListener('submit', (event) => {
  event.preventDefault();
  follow(new FormData(event.target).get('q').trim());
});
follow('');
setInterval(showTotals, TOTALS_EVERY_MS);
setInterval(() => Date.now() > totalsEnd && clearTotals(), 500);

/** With `?scene=down`, the page shows a scene of the fake gateway, and needs no real one. */
async function fetchOf(scene) {
  if (scene === null) return undefined;
  const { createFakeGateway } = await import('../dist/testing.js');
  const fake = createFakeGateway();
  fake.set(scene);
  return fake.fetch;
}

/** Shows the matching accounts and updates them on every change. The client omits an empty search. */
function follow(search) {
  q = search;
  watch?.close();
  clear('Loading …');
  watch = client.watch(
    { q, pageSize: 50 },
    {
      onData: (list, { added, changed }) => {
        showProblem(null);
        showAccounts(list, new Set([...added, ...changed]));
        showTotals();
      },
      onConfirmed: showAge,
      onError: (problem, shown) => {
        if (shown) element('freshness').textContent = `Accounts as of ${toTime(shown)}`;
        else clear('No accounts');
        showProblem(problem);
      },
      onExpired: () => clear('The balances have expired.'),
    },
  );
}

/**
 * Shows the totals with their age: they may come from a newer snapshot than the list. Unchanged totals cost only a 304.
 */
async function showTotals() {
  const asked = q;
  try {
    const { totals, snapshot } = await client.getBalances({ q }, { retry: false });
    if (asked !== q) return;
    totalsEnd = Date.parse(snapshot.expiresAt);
    element('totals-age').textContent = `as of ${toTime(snapshot)}`;
    showRows(
      'totals',
      totals.map(({ currency, accounts, current }) => [currency, accounts, formatAmount(current, currency)]),
    );
  } catch (error) {
    if (!(error instanceof GatewayProblem)) throw error;
    // the watch reports the error
    if (error.code === 'access-not-granted') clearTotals();
  }
}

function clearTotals() {
  totalsEnd = Infinity;
  element('totals-age').textContent = '';
  showRows('totals', []);
}

function clear(text) {
  clearTotals();
  showRows('accounts', []);
  element('freshness').textContent = text;
}

function showAccounts({ accounts, page, snapshot }, marked) {
  const rows = accounts.map(({ name, iban, currency, balances }) => {
    const balance = balances.find(({ type }) => type === 'CurrentBalance');
    return [name, iban ?? '', formatAmount(balance?.current, balance?.currency ?? currency)];
  });
  showRows('accounts', rows, (index) => marked.has(accounts[index].id));
  matches = page.total;
  showAge(snapshot);
}

/** A copy becomes newer even if its accounts do not change. */
function showAge(snapshot) {
  const copy = snapshot.stale ? `, an older copy, as of ${toTime(snapshot)}` : '';
  element('freshness').textContent = `${matches} accounts${copy}`;
}

function showRows(id, rows, isMarked = () => false) {
  element(id).replaceChildren(
    ...rows.map((cells, index) => {
      const row = document.createElement('tr');
      row.className = isMarked(index) ? 'changed' : '';
      row.append(
        ...cells.map((text, column) => {
          const cell = document.createElement('td');
          // as text: names are untrusted
          cell.textContent = text;
          if (column === cells.length - 1) cell.className = 'amount';
          return cell;
        }),
      );
      return row;
    }),
  );
}

/** Shows a problem; null clears it. */
function showProblem(problem) {
  element('problem').hidden = problem === null;
  if (problem === null) return;
  const { code, owner, message, requestId } = problem;
  const advice = {
    'network-error': `Is the gateway at ${baseUrl}, and does its CORS_ORIGINS list ${location.origin}?`,
    'invalid-request': 'Please search for something else.',
    'access-not-granted': 'The bank has granted no accounts. Tell the operator of the gateway.',
  }[code];
  element('problem').textContent =
    `${advice ?? message} (${code}, ${owner} must act, request ${requestId ?? 'unknown'})`;
}
