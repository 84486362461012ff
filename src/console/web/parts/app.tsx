import { useEffect, useMemo, useRef } from 'preact/hooks';
import { balancesOf, movedSince, type Balances } from '../balance.js';
import { client, readProblems, readRecent, type Account } from '../gateway.js';
import { overall, toTroubles, type Level, type Trouble } from '../picture.js';
import { useAnswer } from '../use-answer.js';
import { useLive } from '../use-live.js';
import { useTurns } from '../use-now.js';
import { useView } from '../use-view.js';
import { toFilters, toListQuery } from '../view.js';
import { AccountPanel } from './account-panel.js';
import { Accounts } from './accounts.js';
import { Events } from './events.js';
import { Header } from './header.js';
import { toFavicon } from './icon.js';
import { LastHour } from './last-hour.js';
import { SandboxBar } from './sandbox-bar.js';
import { Situation } from './situation.js';
import { Totals } from './totals.js';
import { Way } from './way.js';

const RECENT_EVERY_MS = 20_000;

/** The page: what is asked for, and where it is shown. */
export function App() {
  const [view, navigate] = useView();
  const live = useLive();
  const tick = useTurns(RECENT_EVERY_MS);
  const problems = useAnswer('problems', 0, readProblems).data ?? [];
  const recent = useAnswer('recent', tick + live.stateTurn, readRecent);
  const listQuery = toListQuery(view);
  const filters = toFilters(view);
  const list = useAnswer(JSON.stringify(listQuery), live.turn, (signal) => client.listAccounts(listQuery, { signal }));
  const totals = useAnswer(JSON.stringify(filters), live.turn, (signal) => client.getBalances(filters, { signal }));

  const waiting = [list, totals].some(({ data, problem }) => data === null && problem === null);

  const troubles = toTroubles(live, problems);
  const level = overall(live, troubles);
  useTabOf(level, troubles[0]);
  useShortcuts();
  // the page says it from its first moment; under `npm run console` it is asked for
  const mode = document.documentElement.dataset['mode'] ?? live.health?.details.bank.mode;
  const moved = useMoved(list.data?.accounts ?? null);

  return (
    <>
      <a class="skip" href="#accounts">
        Skip to the accounts
      </a>
      {mode === 'sandbox' && <SandboxBar turn={live.stateTurn} />}
      <Header live={live} />
      <main>
        <Situation live={live} level={level} troubles={troubles} snapshot={list.data?.snapshot ?? null} />
        <Way live={live} troubles={troubles} snapshot={list.data?.snapshot ?? null} />
        <div class={waiting ? 'columns waiting' : 'columns'}>
          <div class="main-column">
            <Totals answer={totals} view={view} navigate={navigate} />
            <Accounts answer={list} moved={moved} view={view} navigate={navigate} live={live} troubles={troubles} />
          </div>
          <aside class="side-column" aria-label="The last hour">
            <LastHour answer={recent} />
            <Events answer={recent} />
          </aside>
        </div>
      </main>
      <AccountPanel id={view.account} turn={live.turn} navigate={navigate} />
    </>
  );
}

/** The tab tells how it goes, for those who look at another one. */
function useTabOf(level: Level, trouble: Trouble | undefined): void {
  const title =
    level === 'ok' || level === 'idle' || !trouble ? 'Accounts gateway' : `${trouble.title} · Accounts gateway`;
  useEffect(() => {
    document.title = title;
    document.querySelector('link[rel=icon]')?.setAttribute('href', toFavicon(level));
  }, [level, title]);
}

/** "/" leads to the search, as on other pages with one. */
function useShortcuts(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target } = event;
      const typing = target instanceof HTMLElement && target.matches('input, select, textarea');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      document.getElementById('search')?.focus();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The ids of the accounts whose balances are others than in the list before. */
function useMoved(accounts: readonly Account[] | null): ReadonlySet<string> {
  const before = useRef<Balances>(new Map());
  return useMemo(() => {
    const now = balancesOf(accounts ?? []);
    const moved = movedSince(before.current, now);
    before.current = now;
    return moved;
  }, [accounts]);
}
