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
 * Keeps the frame around the content: the header, the sandbox bar, the focus, and the dimmed look while the gateway is
 * unreachable.
 * @param show fetches the page's data from the gateway
 */
export function useFrame(root: HTMLElement, { health, problem }: Live, turn: number | string, show: () => void): void {
  useEffect(startClock, []);
  useEffect(() => keepFocus(root), []);
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

/**
 * Gives the focus to the nearest surroundings that can have it when the focused control disappears; otherwise a
 * keyboard or a screen reader would start again at the top.
 */
function keepFocus(root: HTMLElement): () => void {
  let path: readonly EventTarget[] = [];
  const onFocus = (event: Event) => (path = event.composedPath());
  // after a click on the background, nothing has the focus on purpose
  const onPointer = () => (path = []);
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || (path[0] as Node | undefined)?.isConnected) return;
    const stays = (each: EventTarget) =>
      each instanceof HTMLElement && each.isConnected && each.hasAttribute('tabindex');
    (path.find(stays) as HTMLElement | undefined)?.focus({ preventScroll: true });
  });
  observer.observe(root, { childList: true, subtree: true });
  root.addEventListener('focusin', onFocus);
  document.addEventListener('pointerdown', onPointer);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', onFocus);
    document.removeEventListener('pointerdown', onPointer);
  };
}
