// server.js: GATEWAY_URL=http://127.0.0.1:3000 node server.js, then open http://127.0.0.1:4000
import { createServer } from 'node:http';
import { createClient, formatAmount, GatewayProblem } from 'accounts-gateway-client';

// oxlint-disable-next-line node/no-process-env -- its one setting
const gateway = createClient({ baseUrl: process.env.GATEWAY_URL, clientName: 'treasury', deadlineMs: 10_000 });

createServer(async (request, response) => {
  const isJson = request.url === '/totals';
  response.setHeader('Content-Type', isJson ? 'application/json' : 'text/html; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  try {
    const { totals, snapshot } = await gateway.getBalances();
    response.end(isJson ? JSON.stringify({ totals, snapshot }) : toPage(totals, snapshot));
  } catch (problem) {
    if (!(problem instanceof GatewayProblem)) throw problem;
    response.writeHead(502).end(isJson ? JSON.stringify(problem) : escape(`${problem.message} (${problem.code})`));
  }
}).listen(4000, '127.0.0.1');

function toPage(totals, { asOf, expiresAt }) {
  const rows = totals.map(({ currency, current }) => `<li>${escape(formatAmount(current, currency, 'en'))}</li>`);
  const leftMs = Math.max(0, Date.parse(expiresAt) - Date.now());
  return `<!doctype html><title>Totals</title><p>As of ${asOf}</p><ul>${rows.join('')}</ul>
<script>
  setTimeout(() => (document.body.textContent = 'The balances have expired. Reload the page.'), ${leftMs} - performance.now());
</script>`;
}

const escape = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
