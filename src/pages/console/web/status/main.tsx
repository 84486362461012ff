import { render } from 'preact';
import { askHealth } from '../shared/use-health.js';
import { StatusPage } from './status-page.js';
import '../styles/palette.css';
import '../styles/header.css';
import '../styles/base.css';
import '../styles/sandbox.css';
import '../styles/status.css';

const root = document.getElementById('main');
if (root) {
  const first = await askHealth();
  // the skeleton of index.html
  root.replaceChildren();
  root.removeAttribute('aria-busy');
  render(<StatusPage first={first} root={root} />, root);
}
