import type { Health } from '../health.js';
import type { Incident } from '../incident.js';
import { toMessage } from '../message.js';
import { toClock, toCountdown, toDuration } from '../time.js';
import { CopyButton } from './copy-button.js';
import { LevelIcon } from './icon.js';

const WHO: Readonly<Record<string, readonly [name: string, note: string]>> = {
  bank: ['The bank', 'There is nothing to fix on our side. Report it if it lasts longer than 10 minutes.'],
  network: ['The network team', 'The path is broken before it reaches the bank.'],
  operator: ['The operator of this gateway', 'Its settings, its credentials or its certificate need a change.'],
  caller: ['The person who opened this page', 'The gateway does not accept calls from here.'],
};

const IMPACTS: Readonly<Record<Incident['served'], readonly [main: string, note: string]>> = {
  fresh: ['Nothing yet', 'Apps get current data while this is being fixed.'],
  stale: ['Apps get an older copy', ''],
  empty: ['Apps show no accounts', 'Their calls succeed, but the list is empty.'],
  none: ['Apps get no data', 'There is no cached copy to serve.'],
  unknown: ['Unknown', 'This page cannot see what apps get. Apps on the same path get no answer.'],
};

interface Props {
  readonly incident: Incident;
  readonly health: Health | null;
  readonly requestIds: readonly string[];
  /** The gateway's time; it stands still while the gateway is gone. */
  readonly now: number;
}

/** The incident: impact, who acts, next step. */
export function IncidentCard({ incident, health, requestIds, now }: Props) {
  const { level, impact, title, trouble, also, since } = incident;
  const [who, note] = WHO[trouble.owner] ?? [trouble.owner, ''];
  return (
    <section class={`card incident incident-${level}`} aria-labelledby="impact">
      <div class="incident-head row">
        <div>
          <h2 id="impact">{impact}</h2>
          <p>
            <strong>{title}</strong>
            {/[.!?]$/.test(title) ? ' ' : '. '}
            <Marked text={trouble.detail} />
          </p>
        </div>
        {since && (
          <p class="duration">
            <strong>{toDuration(now - Date.parse(since))}</strong>
            <span>{toAttempt(incident, now)}</span>
          </p>
        )}
      </div>
      <div class="columns">
        <Impact incident={incident} now={now} />
        <div>
          <h3>Who acts</h3>
          <p class="main">{who}</p>
          <p>{trouble.part === 'gateway' ? 'The gateway itself, or the path from here to it.' : note}</p>
        </div>
        <div>
          <h3>Next step</h3>
          <p>
            <Marked text={trouble.remedy} />
          </p>
          <p class="actions row">
            {health && trouble.part !== 'gateway' && (
              <CopyButton
                class="primary"
                name="Copy message"
                text={() => toMessage(incident, health, requestIds, now)}
              />
            )}
            {trouble.part !== 'gateway' && (
              <a class="button" href={`/problems/${trouble.code}`}>
                Runbook
              </a>
            )}
          </p>
        </div>
      </div>
      {also.length > 0 && (
        <ul class="also stack quiet" aria-label="Also">
          {also.map(({ code, level: each, detail, remedy }) => (
            <li key={code} class="row">
              <LevelIcon level={each} />
              <span>
                <Marked text={`${detail} ${remedy}`} /> <a href={`/problems/${code}`}>{code}</a>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Renders a text; what is between backticks becomes code. */
const Marked = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));

function Impact({ incident: { copy, served }, now }: Pick<Props, 'incident' | 'now'>) {
  if (!copy) {
    const [main, note] = IMPACTS[served];
    return (
      <div>
        <h3>Impact</h3>
        <p class="main">{main}</p>
        <p>{note}</p>
      </div>
    );
  }
  const [asOf, expiresAt] = [Date.parse(copy.asOf), Date.parse(copy.expiresAt ?? '')];
  const left = expiresAt - now;
  return (
    <div>
      <h3>Impact</h3>
      <p class="main">Apps get the copy of {toClock(copy.asOf)}</p>
      {copy.expiresAt !== null && (
        <>
          <div
            class="bar"
            role="meter"
            aria-label="Seconds until the cached copy expires"
            aria-valuemin={0}
            aria-valuemax={Math.round((expiresAt - asOf) / 1000)}
            aria-valuenow={Math.round(Math.max(0, left) / 1000)}
            style={{ '--left': `${Math.max(0, left / (expiresAt - asOf)) * 100}%` }}
          >
            <span />
          </div>
          <p>
            It expires in <strong class="left">{toCountdown(left / 1000)}</strong> ({toClock(copy.expiresAt)}). After
            that every call fails.
          </p>
        </>
      )}
    </div>
  );
}

function toAttempt({ since, nextAttemptAt, attempts }: Incident, now: number): string {
  const left = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - now;
  const next = left === null ? null : left >= 1000 ? `next attempt in ${toDuration(left)}` : 'trying now';
  const tried = attempts ? `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` : null;
  return [`since ${toClock(since ?? '')}`, tried, next].filter(Boolean).join(' · ');
}
