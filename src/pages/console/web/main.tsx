import { render } from 'preact';
import { App } from './parts/app.js';
import { client } from './gateway.js';
import { askHealth } from './use-health.js';
import { readView, toListQuery } from './view.js';
// later styles win: print is last
import './styles/palette.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/status.css';
import './styles/overview.css';
import './styles/accounts.css';
import './styles/panel.css';
import './styles/print.css';

/** Maximum delay of the first paint while waiting for accounts, ms, to avoid a layout shift. */
const LIST_WAIT_MS = 400;

const root = document.getElementById('app');
if (root) {
  const list = client.listAccounts(toListQuery(readView(location.search)), { retry: false }).catch(() => null);
  const health = await askHealth();
  await Promise.race([list, new Promise((resolve) => setTimeout(resolve, LIST_WAIT_MS))]);
  // the skeleton of index.html
  root.replaceChildren();
  render(<App first={health} />, root);
}
