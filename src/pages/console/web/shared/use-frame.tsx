import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { readNow } from './gateway.js';
import { fillPageHeader, startClock } from './page-header.js';
import { SandboxBar } from './sandbox-bar.js';
import type { Live } from './use-health.js';

/**
 * Delays after a switch, ms, at which the page requests a refresh. The gateway may respond with one that is younger
 * than its own duration, so the first request may change nothing.
 */
const REFRESH_AFTER_MS = [0, 1500, 4000, 8000, 16_000];
/** Delays after each request, ms, at which the page updates. At the second, a slow bank is past the soft timeout. */
const SHOW_AFTER_MS = [300, 1300];

/**
 * Keeps the frame around the content: the header, the sandbox bar, and the dimmed look while the gateway is
 * unreachable.
 * @param show fetches the page's data from the gateway
 */
export function useFrame(root: HTMLElement, { health, problem }: Live, turn: number | string, show: () => void): void {
  useEffect(startClock, []);
  useEffect(() => {
    if (health) fillPageHeader(health);
  }, [health]);
  useEffect(() => {
    root.classList.toggle('gone', problem !== null);
  }, [problem !== null]);

  /** Makes the gateway refresh now, then also shows effects that appear later. */
  function refresh(): void {
    const ask = () => {
      for (const ms of SHOW_AFTER_MS) window.setTimeout(show, ms);
      readNow().then(show, show);
    };
    for (const ms of REFRESH_AFTER_MS) window.setTimeout(ask, ms);
  }

  const isSandbox = health?.details.bank.mode === 'sandbox';
  useEffect(() => {
    const bar = document.getElementById('sandbox');
    if (!isSandbox || !bar) return;
    if (!bar.classList.contains('switchable')) bar.replaceChildren();
    bar.classList.add('switchable');
    render(<SandboxBar turn={turn} refresh={refresh} />, bar);
  });
}
