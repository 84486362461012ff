import type { Level, Trouble } from '../picture.js';
import { toClock } from '../time.js';
import type { Live } from '../use-live.js';
import { LevelIcon } from './icon.js';

const OWNERS: Readonly<Record<string, string>> = {
  operator: 'The operator of this gateway',
  network: 'The network or proxy team',
  bank: 'The bank',
  caller: 'The person who opened this page',
};

interface Props {
  readonly live: Live;
  readonly level: Level;
  readonly troubles: readonly Trouble[];
  readonly snapshot: { readonly asOf: string; readonly complete: boolean | null } | null;
}

/** How it goes, in a sentence; and when it does not: what happened, who must act, what to do. */
export function Situation({ live, level, troubles, snapshot }: Props) {
  const [first, ...others] = troubles;
  return (
    <section class={`situation situation-${level}`} aria-labelledby="situation">
      <div class="headline">
        <LevelIcon level={level} size={28} />
        <div>
          <div role="status">
            <h2 id="situation">{toHeadline(live, level, first)}</h2>
          </div>
          <p>{toSentence(live, level, snapshot)}</p>
        </div>
      </div>
      {first && <Explanation trouble={first} />}
      {others.length > 0 && (
        <ul class="also" aria-label="Also">
          {others.map((trouble) => (
            <li key={`${trouble.hop} ${trouble.code}`}>
              <LevelIcon level={trouble.level} />
              <span>
                {trouble.title}.{' '}
                <span class="quiet">
                  <Marked text={trouble.remedy} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Explanation({ trouble }: { readonly trouble: Trouble }) {
  const { detail, owner, remedy, code, lastAt } = trouble;
  return (
    <dl class="explanation">
      <div>
        <dt>What happened</dt>
        <dd>
          <Marked text={detail} />
          {lastAt && <span class="quiet"> Last at {toClock(lastAt)}.</span>}
        </dd>
      </div>
      <div>
        <dt>Who must act</dt>
        <dd>
          <strong>{OWNERS[owner] ?? owner}</strong>
        </dd>
      </div>
      <div>
        <dt>What to do</dt>
        <dd>
          <Marked text={remedy} /> {code && <a href={`/problems/${code}`}>{code}</a>}
        </dd>
      </div>
    </dl>
  );
}

/** What stands between backticks is to be typed as it is. */
const Marked = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));

function toHeadline(live: Live, level: Level, trouble: Trouble | undefined): string {
  if (trouble) return trouble.title;
  if (level === 'idle') return 'Looking…';
  return live.health?.status === 'error' ? 'The accounts are being read' : 'All well';
}

function toSentence({ health, trouble }: Live, level: Level, snapshot: Props['snapshot']): string {
  if (level === 'idle' || !health) return trouble ? 'Nothing could be shown yet.' : 'Asking the gateway how it is.';
  const { accounts, stale, asOf } = health.details.snapshot;
  const shown = snapshot?.asOf ?? asOf;
  if (trouble) return shown ? `Showing what was there at ${toClock(shown)}.` : 'Nothing could be shown yet.';
  if (asOf === null || accounts === null) return 'There are no accounts to show.';
  const count = `${accounts} ${accounts === 1 ? 'account' : 'accounts'}`;
  if (stale || health.status === 'error')
    return `Meanwhile the copy of ${toClock(shown ?? asOf)} is shown, ${count}, marked as stale.`;
  const incomplete = snapshot?.complete === false ? ' The count of the bank disagrees with the list.' : '';
  return `${count}, read from the bank at ${toClock(asOf)}.${incomplete}`;
}
