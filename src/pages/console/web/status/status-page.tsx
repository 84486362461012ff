import { useEffect, useRef } from 'preact/hooks';
import { readProblems, readRecent, type ProblemEntry } from '../shared/gateway.js';
import { toFavicon } from '../shared/icon.js';
import type { Level } from '../shared/level.js';
import { serverNow } from '../shared/time.js';
import { useAnswer } from '../shared/use-answer.js';
import { useFrame } from '../shared/use-frame.js';
import { useHealth, type Live } from '../shared/use-health.js';
import { useSeconds, useTurns } from '../shared/use-now.js';
import { toActive } from './apps.js';
import { toTroubles } from './cause.js';
import { IncidentCard } from './incident-card.js';
import { toGoneIncident, toIncident, type Incident } from './incident.js';
import { LastHour } from './last-hour.js';
import { PathStrip } from './path-strip.js';
import { toPath, UNCHECKED } from './path.js';
import { SearchCard } from './search-card.js';
import { WellCard } from './well-card.js';
import { YourApps } from './your-apps.js';

const RECENT_EVERY_MS = 10_000;

interface Props {
  readonly first: Live;
  /** Every error; empty if they could not be read. */
  readonly codes: readonly ProblemEntry[];
  readonly root: HTMLElement;
}

/** The page for whoever is on duty. It shows no name, IBAN or amount of an account. */
export function StatusPage({ first, codes, root }: Props) {
  const [live, askHealth] = useHealth(first);
  const { health, problem, goneSince } = live;
  const isGone = problem !== null;
  const problems = useAnswer('problems', health?.version ?? '', readProblems).data ?? codes;
  const turn = useTurns(RECENT_EVERY_MS);
  const recent = useAnswer('recent', `${turn} ${health?.status} ${isGone}`, readRecent).data;
  useFrame(root, live, turn, askHealth);

  const now = useNow(isGone, health?.status !== 'ok');
  const incident = isGone
    ? toGoneIncident(problem, goneSince ?? '', problems)
    : health && toIncident(health, now, problems, live.answeredAt);
  useTab(incident);
  const active = toActive(recent).length;
  const troubles = health ? toTroubles(health, problems).map(({ code }) => code) : [];

  return (
    <>
      <p class="hidden" role="status">
        {incident?.headline ?? 'Operational'}
      </p>
      {incident && <IncidentCard incident={incident} health={health} apps={active} now={now} />}
      {!incident && health && <WellCard health={health} apps={active} />}
      <div class="shown stack">
        <PathStrip hops={health && !isGone ? toPath(health, recent, now) : UNCHECKED} />
        <div class="halves stack">
          <YourApps clients={recent?.clients ?? null} now={now} />
          <LastHour
            recent={recent}
            served={incident?.served ?? 'current'}
            problems={problems}
            current={troubles}
            now={now}
          />
        </div>
        <SearchCard />
      </div>
    </>
  );
}

/** The gateway's time. It advances each second unless all is well, and stops while the gateway is gone. */
function useNow(isGone: boolean, isTroubled: boolean): number {
  useSeconds(isTroubled && !isGone);
  const shown = useRef(serverNow());
  if (!isGone) shown.current = serverNow();
  return shown.current;
}

/** Shows the status in the tab, for readers who look at another one. */
function useTab(incident: Incident | null): void {
  const title = incident ? `${incident.cause.title} · Accounts gateway` : 'Accounts gateway';
  const level: Level = incident?.level ?? 'ok';
  useEffect(() => {
    document.title = title;
    document.querySelector('link[rel=icon]')?.setAttribute('href', toFavicon(level));
  }, [level, title]);
}
