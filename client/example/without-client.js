// The page of docs/web-apps.md#a-live-page-with-vite without the client and without a build step. It handles the
// gateway's errors, no network, and the HTML page of an intermediate proxy.
const [notice, list] = document.querySelectorAll('p, ul');
let etag, asOf;
let failure = '';
let end = Infinity;

async function poll() {
  let seconds = 5;
  const askedAt = Date.now();
  try {
    // without max-stale, a browser adds no-cache to a call with an ETag, and each such call refreshes from the bank
    const headers = { 'Cache-Control': 'max-stale', ...(etag && { 'If-None-Match': etag }) };
    const signal = AbortSignal.timeout(20_000);
    const response = await fetch('/api/v1/accounts?currency=EUR', { headers, signal, cache: 'no-store' });
    seconds = Number(response.headers.get('Retry-After')) || seconds;
    if (response.status === 304 && !etag) return poll(); // it has expired in the meantime
    if (response.status === 200) show(await response.json());
    else if (response.status !== 304) throw await toError(response);
    failure = '';
    etag = response.headers.get('ETag') ?? etag;
    asOf = response.headers.get('Snapshot-As-Of'); // after a 304, this applies, not the body
    const lifeMs = Date.parse(response.headers.get('Snapshot-Expires-At')) - Date.parse(asOf);
    const age = Number(response.headers.get('Age'));
    // Age is in whole seconds, and the check below runs up to half a second late
    end = askedAt + lifeMs - (age + 2) * 1000;
    notice.textContent = response.headers.get('Snapshot-Stale') === 'true' ? toAge() : '';
    seconds = Math.max(0, Number(/max-age=(\d+)/.exec(response.headers.get('Cache-Control'))?.[1] ?? 5) - age) + 1;
    expire(); // a copy may arrive in its last second
  } catch (error) {
    if (error.code === 'access-not-granted') clear();
    failure = error.message;
    notice.textContent = `${etag ? toAge() : ''}${failure}`;
  }
  setTimeout(poll, seconds * 1000);
}

function show({ accounts }) {
  list.replaceChildren(...accounts.map(toRow));
}

function toRow({ name, balances }) {
  const row = document.createElement('li');
  row.textContent = `${name}: ${balances.map(({ current, currency }) => `${current ?? '–'} ${currency}`).join(', ')}`;
  return row;
}

async function toError(response) {
  const { code, title } = await response.json().catch(() => ({}));
  const message = code ? `${title} (${code})` : `Status ${response.status}: a proxy, or the gateway is not running`;
  return Object.assign(new Error(message), { code });
}

const toAge = () => `As of ${new Date(asOf).toLocaleTimeString()}. `;

function clear() {
  list.replaceChildren();
  etag = undefined;
  end = Infinity;
  notice.textContent = `The balances have expired. ${failure}`;
}

const expire = () => Date.now() > end && clear();

setInterval(expire, 500);
poll();
