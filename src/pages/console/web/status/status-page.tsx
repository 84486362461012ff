import { useEffect, useRef, useState } from 'preact/hooks';
import { readProblems, type ProblemEntry } from '../shared/gateway.js';
import { serverNow } from '../shared/time.js';
import { useAnswer } from '../shared/use-answer.js';
import { useFrame } from '../shared/use-frame.js';
import { useHealth, type Live } from '../shared/use-health.js';
import { useTab } from '../shared/use-tab.js';
import { toActive, toWellText } from './apps.js';
import { toTroubles } from './cause.js';
import { IdleCard } from './idle-card.js';
import { toIdle, toIdleText } from './idle.js';
import { IncidentCard } from './incident-card.js';
import { toGoneIncident, toIncident } from './incident.js';
import { LastHour } from './last-hour.js';
import { PathStrip } from './path-strip.js';
import { toMainStage, toPath, UNCHECKED } from './path.js';
import { WellCard } from './well-card.js';
import { WhatHappened } from './what-happened.js';
import { YourApps } from './your-apps.js';

interface Props {
  readonly first: Live;
  /** Every error; empty if they could not be read. */
  readonly codes: readonly ProblemEntry[];
  readonly root: HTMLElement;
}

/** The page for whoever is on duty. It shows no account's name, IBAN or amount. */
export function StatusPage({ first, codes, root }: Props) {
  const [live, ask] = useHealth(first, true);
  const { health, recent, answeredAt, problem, goneSince } = live;
  const isGone = problem !== null;
  const problems = useAnswer('problems', health?.version ?? '', readProblems).data ?? codes;
  useFrame(root, live, answeredAt, ask);

  const now = useNow(isGone, health?.status !== 'ok');
  const idle = health && !isGone ? toIdle(health, recent, answeredAt) : null;
  const idleText = health && idle && toIdleText(idle, health, recent, problems, answeredAt);
  const incident = isGone
    ? toGoneIncident(problem, goneSince ?? '', problems)
    : health && !idle
      ? toIncident(health, now, problems, recent)
      : null;
  const active = toActive(recent);
  const headline = incident?.headline ?? idleText?.headline ?? (health ? toWellText(health, active, answeredAt) : '');
  const title = incident ? `${incident.cause.title} · Accounts gateway` : 'Accounts gateway';
  useTab(title, incident?.level ?? (idle?.rejected.length ? 'warn' : idle ? 'unknown' : 'ok'));
  const meaning = incident
    ? `${incident.cause.code} ${incident.served} ${incident.isShut}`
    : idle
      ? `idle ${idle.rejected.join()}`
      : 'well';
  const announcement = useAnnouncement(headline, meaning);
  const troubles = health ? toTroubles(health, problems) : [];

  return (
    <>
      <p class="hidden" role="status">
        {announcement}
      </p>
      {incident && <IncidentCard incident={incident} health={health} active={active} now={now} />}
      {idle && idleText && health && (
        <IdleCard
          idle={idle}
          text={idleText}
          health={health}
          troubles={troubles}
          problems={problems}
          now={answeredAt}
          ask={ask}
        />
      )}
      {!incident && !idle && health && <WellCard health={health} active={active} now={answeredAt} />}
      <div class="shown stack">
        <PathStrip
          hops={health && !isGone ? toPath(health, recent, answeredAt) : UNCHECKED}
          main={incident ? toMainStage(incident.cause) : undefined}
        />
        <LastHour recent={recent} now={answeredAt} />
        <div class="halves stack">
          <YourApps recent={recent} isIdle={idle !== null && idle.rejected.length === 0} />
          <WhatHappened
            recent={recent}
            problems={problems}
            current={troubles.map(({ code }) => code)}
            isCalm={incident === null}
            now={answeredAt}
          />
        </div>
      </div>
    </>
  );
}

/**
 * The gateway's time. It advances each second unless everything is healthy, and stops while the gateway is unreachable.
 */
function useNow(isGone: boolean, isTroubled: boolean): number {
  const isTicking = isTroubled && !isGone;
  const [, setTicks] = useState(0);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = window.setInterval(() => setTicks((count) => count + 1), 1000);
    return () => window.clearInterval(timer);
  }, [isTicking]);
  const shown = useRef(serverNow());
  if (!isGone) shown.current = serverNow();
  return shown.current;
}

/** Time after which a screen reader has spoken; the text would then only be the headline once more. */
const SPOKEN_MS = 10_000;

/** The headline for a screen reader, once: when the state changes, not whenever a time or a count in it does. */
function useAnnouncement(headline: string, meaning: string): string {
  const [text, setText] = useState('');
  const last = useRef(meaning);
  useEffect(() => {
    if (last.current === meaning) return undefined;
    last.current = meaning;
    setText(headline);
    const timer = window.setTimeout(() => setText(''), SPOKEN_MS);
    return () => window.clearTimeout(timer);
  }, [meaning]);
  return text;
}
