import { render } from 'preact';
import { readProblems } from '../shared/gateway.js';
import { askHealth } from '../shared/use-health.js';
import { StatusPage } from './status-page.js';
import '../styles/palette.css';
import '../styles/header.css';
import '../styles/base.css';
import '../styles/sandbox.css';
import '../styles/status.css';
import '../styles/print.css';

const root = document.getElementById('main');
if (root) {
  // the first sentence needs both: the problem, and the status with which calls fail
  const codes = readProblems(new AbortController().signal).catch(() => []);
  const [first, problems] = await Promise.all([askHealth(true), codes]);
  // the skeleton of index.html
  root.replaceChildren();
  root.removeAttribute('aria-busy');
  render(<StatusPage first={first} codes={problems} root={root} />, root);
}
