import type { ComponentProps } from 'preact';
import { CopyButton } from '../shared/copy-button.js';
import type { RecentClient } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { serverNow, toDuration } from '../shared/time.js';
import { toCauseText, toTimer } from './cause-text.js';
import { CopyLine } from './copy-line.js';
import { toEffect } from './effect.js';
import type { Incident } from './incident.js';
import { toNote, toReport } from './report.js';
import { TroubleList } from './trouble-list.js';

interface Props {
  readonly incident: Incident;
  readonly health: Health | null;
  /** The apps that called in the last minute. */
  readonly active: readonly RecentClient[];
  /** The gateway's time; it stands still while the gateway is unreachable. */
  readonly now: number;
}

/** The states in which app teams need a note. Another note exists for an unreachable gateway. */
const HAS_NOTE: ReadonlySet<Incident['served']> = new Set(['copy', 'copies', 'empty', 'none', 'waiting', 'untried']);

/** The incident: what apps get and for how long, why, and what to do now. */
export function IncidentCard({ incident, health, active, now }: Props) {
  const { level, headline, copy, cause, also } = incident;
  const timer = toTimer(incident, now);
  return (
    <section class={`card incident incident-${level}`} aria-labelledby="headline">
      <div class="card-head">
        <div class="sentence">
          <h1 id="headline">{headline}</h1>
          <CauseLine incident={incident} health={health} now={now} />
        </div>
        {timer && (
          <p class="timer">
            <strong>{timer.value}</strong>
            <span class="quiet">{timer.label}</span>
          </p>
        )}
        {copy && <CopyLine copy={copy} since={cause.since} now={now} />}
      </div>
      <div class="columns">
        <DoNow incident={incident} health={health} now={now} />
        <Who incident={incident} />
        <div>
          <h2>Tell the apps</h2>
          <p>{toEffect(incident, health, active, now)}</p>
          {health && !incident.isShut && (HAS_NOTE.has(incident.served) || incident.status === 0) && (
            <CopyText name="Copy note for app teams" text={() => toNote(incident, health, serverNow())} />
          )}
        </div>
      </div>
      <TroubleList name="Also" troubles={also} />
    </section>
  );
}

function CauseLine({ incident: { cause }, health, now }: Omit<Props, 'active'>) {
  const { what, answer, since, meaning } = toCauseText(cause, health, now);
  const left = cause.nextAttemptAt === null ? null : Date.parse(cause.nextAttemptAt) - now;
  const tried = cause.attempts === null ? '' : `${cause.attempts} ${cause.attempts === 1 ? 'attempt' : 'attempts'}`;
  const next = left === null ? '' : left >= 1000 ? `next in ${toDuration(left)}` : 'the next call retries';
  return (
    <p class="cause">
      {what}
      {answer && <strong>{answer}</strong>}
      {since}
      {answer && '.'} {meaning}{' '}
      <span class="quiet">
        {tried && <span>{next ? `${tried},` : tried}</span>} {next && <span>{next}</span>}
        {tried && ' · '}
        {cause.part !== 'gateway' && <a href={`/problems/${cause.code}`}>{cause.code}</a>}
      </span>
    </p>
  );
}

function DoNow({ incident, health, now }: Omit<Props, 'active'>) {
  const { doNow, request, call, cause } = incident;
  const statusPage = cause.owner === 'bank' ? (health?.details.bank.statusPage ?? null) : null;
  const report = call === 'network' ? 'Copy report for the network team' : 'Copy report for the bank';
  return (
    <div>
      <h2>Do now</h2>
      <p>
        {statusPage !== null && (
          <>
            Look at{' '}
            <a href={statusPage} rel="noreferrer">
              the bank's status page
            </a>
            .{' '}
          </>
        )}
        <Marked text={doNow} />
      </p>
      <p class="row actions">
        {health && request !== null && (
          <CopyText
            class={cause.owner === 'operator' ? undefined : 'primary'}
            name={report}
            text={() => toReport(incident, health, now)}
          />
        )}
        {cause.part !== 'gateway' && (
          <a class="button" href={`/problems/${cause.code}`}>
            Runbook: {cause.code}
          </a>
        )}
      </p>
    </div>
  );
}

function Who({ incident: { who } }: Pick<Props, 'incident'>) {
  return (
    <div>
      <h2>Who</h2>
      <p class="main">{who.name}</p>
      {who.contact && <p>{who.contact}</p>}
      {who.note && <p>{who.note}</p>}
    </div>
  );
}

/** A text to copy; on paper, the text itself. */
const CopyText = (props: ComponentProps<typeof CopyButton>) => (
  <>
    <CopyButton {...props} />
    <pre class="print-only">{props.text()}</pre>
  </>
);

/** Renders a text; text in backticks becomes code. */
const Marked = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));
