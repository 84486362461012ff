import { render } from 'preact';
import { client } from './client.js';
import { askHealth } from '../shared/use-health.js';
import { AccountsPage } from './accounts-page.js';
import { readView, toListQuery } from './view.js';
import '../styles/palette.css';
import '../styles/header.css';
import '../styles/base.css';
import '../styles/sandbox.css';
import '../styles/totals.css';
import '../styles/accounts.css';
import '../styles/panel.css';
import '../styles/print.css';

/** Maximum delay of the first paint while waiting for accounts, ms, to avoid a layout shift. */
const LIST_WAIT_MS = 400;

const root = document.getElementById('main');
if (root) {
  const list = client.listAccounts(toListQuery(readView(location.search)), { retry: false }).catch(() => null);
  const health = await askHealth();
  await Promise.race([list, new Promise((resolve) => setTimeout(resolve, LIST_WAIT_MS))]);
  // the skeleton of accounts.html
  root.replaceChildren();
  root.removeAttribute('aria-busy');
  render(<AccountsPage first={health} root={root} />, root);
}
