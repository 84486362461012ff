import { render } from 'preact';
import { App } from './parts/app.js';
import 'uplot/dist/uPlot.min.css';
// what comes later wins: the narrow screen is last
import './styles/base.css';
import './styles/frame.css';
import './styles/situation.css';
import './styles/accounts.css';
import './styles/last-hour.css';
import './styles/panel.css';
import './styles/narrow.css';

const root = document.getElementById('app');
if (root) render(<App />, root);
