import { toEnvironment } from './environment.js';
import type { Health } from './health.js';
import { serverNow, toClock } from './time.js';

/** Fills in the header, which is in the HTML of every page, with facts about this gateway. */
export function fillPageHeader(health: Health): void {
  const { bank } = health.details;
  const environment = toEnvironment(health);
  const { dataset } = document.documentElement;
  dataset['mode'] = bank.mode;
  dataset['kind'] = environment.kind;
  setFact('environment', environment.name);
  setFact('gateway', [bank.host, health.instance, `v${health.version}`].join(' · '));
}

/** Shows the gateway's time in the header, updated each second. Returns a function that stops it. */
export function startClock(): () => void {
  const show = () => setFact('clock', `${toClock(serverNow())} UTC`);
  show();
  const timer = window.setInterval(show, 1000);
  return () => window.clearInterval(timer);
}

function setFact(name: string, text: string): void {
  const element = document.querySelector(`[data-fact="${name}"]`);
  if (element && element.textContent !== text) element.textContent = text;
}
