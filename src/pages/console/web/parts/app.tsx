import { useEffect, useRef, useState } from 'preact/hooks';
import { isSandbox, toEnvironment } from '../environment.js';
import { client, readProblems, readRecent } from '../gateway.js';
import { toTroubles } from '../health.js';
import { toGoneIncident, toIncident, type Incident } from '../incident.js';
import { toPath } from '../path.js';
import { serverNow, setZone } from '../time.js';
import { useAnswer } from '../use-answer.js';
import { useHealth, type Live } from '../use-health.js';
import { useList } from '../use-list.js';
import { useSeconds, useTurns } from '../use-now.js';
import { useView } from '../use-view.js';
import { toFilters } from '../view.js';
import { AccountPanel } from './account-panel.js';
import { Accounts } from './accounts.js';
import { Header } from './header.js';
import { LevelIcon, toFavicon } from './icon.js';
import { IncidentCard } from './incident-card.js';
import { LastHour } from './last-hour.js';
import { PathStrip } from './path-strip.js';
import { SandboxBar } from './sandbox-bar.js';
import { Totals } from './totals.js';

const RECENT_EVERY_MS = 60_000;
const RECENT_IN_TROUBLE_MS = 10_000;
const ZONE_KEY = 'local-time';

/** The page: what is asked for, and where it is shown. */
export function App({ first }: { readonly first: Live }) {
  const [view, navigate] = useView();
  const [utc, setUtc] = useState(() => localStorage.getItem(ZONE_KEY) === null);
  const [live, askHealth] = useHealth(first);
  const [round, setRound] = useState(0);
  const listing = useList(view, round);
  const { health, problem, goneSince } = live;
  setZone(utc);

  const troubled = problem !== null || health?.status !== 'ok';
  useSeconds(troubled && problem === null);
  // it stands still while the gateway is gone
  const shownAt = useRef(serverNow());
  if (problem === null) shownAt.current = serverNow();
  const now = shownAt.current;
  const problems = useAnswer('problems', health?.version ?? '', readProblems).data ?? [];
  const tick = useTurns(troubled ? RECENT_IN_TROUBLE_MS : RECENT_EVERY_MS);
  const recent = useAnswer('recent', `${tick} ${health?.status} ${round}`, readRecent);
  // the snapshot of the answers: everything of it is asked for again when there is a new one
  const turn = `${health?.details.snapshot.asOf} ${listing.turn}`;
  const { currency: _currency, ...filters } = toFilters(view);
  const totals = useAnswer(JSON.stringify(filters), turn, (signal) =>
    client.getBalances(filters, { signal, retry: false }),
  );

  const incident = problem
    ? toGoneIncident(problem, goneSince ?? '', problems)
    : health && toIncident(health, now, problems);
  const level = incident?.level ?? (health?.status === 'error' ? 'warn' : 'ok');
  useTab(level, incident);
  useShortcuts();
  // a problem of the list, or none after one, is known before /health is asked again
  useEffect(askHealth, [listing.problem?.code, listing.data?.snapshot.stale, listing.data?.page.total === 0]);

  function changeZone(toUtc: boolean): void {
    if (toUtc) localStorage.removeItem(ZONE_KEY);
    else localStorage.setItem(ZONE_KEY, '1');
    setUtc(toUtc);
  }
  /** Makes the gateway ask the bank now, then checks /health again for effects that appear later. */
  function refresh(): void {
    const show = () => {
      askHealth();
      setRound((count) => count + 1);
    };
    for (const ms of SHOW_AFTER_MS) window.setTimeout(show, ms);
    client.getBalances({}, { refresh: true, retry: false }).then(show, show);
  }

  const environment = toEnvironment(health);
  return (
    <>
      <a class="skip" href="#accounts">
        Skip to the accounts
      </a>
      {isSandbox(health) && <SandboxBar turn={round} refresh={refresh} />}
      <Header live={live} utc={utc} setUtc={changeZone} />
      <main class={problem ? 'stack gone' : 'stack'}>
        <p class="hidden" role="status">
          {incident?.announced ?? 'Operational'}
        </p>
        {incident ? (
          <IncidentCard incident={incident} health={health} requestIds={listing.requestIds} now={now} />
        ) : (
          <Operational live={live} />
        )}
        <div class="shown stack">
          {health && <PathStrip hops={toPath(health, recent.data, now)} />}
          <div class="overview stack">
            <Totals answer={totals} view={view} navigate={navigate} />
            <LastHour
              answer={recent}
              problems={problems}
              current={health ? toTroubles(health).map(({ code }) => code) : []}
              now={now}
            />
          </div>
          <Accounts
            listing={listing}
            view={view}
            navigate={navigate}
            currencies={totals.data?.totals.flatMap(({ currency }) => currency ?? []) ?? []}
            gone={problem !== null}
            environment={environment}
            host={health?.details.bank.host ?? ''}
          >
            <AccountPanel id={view.account} accounts={listing.data?.accounts ?? []} turn={turn} navigate={navigate} />
          </Accounts>
        </div>
      </main>
    </>
  );
}

/** An answer may be slow, or slow enough to be a problem. */
const SHOW_AFTER_MS = [300, 1300];

function Operational({ live: { health } }: { readonly live: Live }) {
  const { asOf, accounts } = health?.details.snapshot ?? {};
  const { daysLeft } = health?.details.certificate ?? {};
  const ready = asOf && health?.status !== 'error';
  return (
    <section class="card operational row" aria-label="Status">
      <LevelIcon level={ready ? 'ok' : 'unknown'} size={20} />
      <h2>{ready ? 'Operational' : 'Getting the accounts for the first time'}</h2>
      {ready && (
        <p class="none grow">
          Your apps get current data: {accounts} {accounts === 1 ? 'account' : 'accounts'}.
        </p>
      )}
      {typeof daysLeft === 'number' && <p class="none">Certificate: {daysLeft} days left</p>}
    </section>
  );
}

/** Shows the status in the tab's title, for readers who look at another tab. */
function useTab(level: 'ok' | 'warn' | 'bad', incident: Incident | null): void {
  const title = incident ? `${incident.title} · Accounts gateway` : 'Accounts gateway';
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
