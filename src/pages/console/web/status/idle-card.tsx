import { useState } from 'preact/hooks';
import { CopyButton } from '../shared/copy-button.js';
import { toAccounts, toGrouped } from '../shared/count.js';
import { readNow, toProblem, type ProblemEntry } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { serverNow, toMoment } from '../shared/time.js';
import type { Trouble } from './cause.js';
import { toNames, type Idle, type IdleText } from './idle.js';
import { NextTask } from './next-task-line.js';
import { TroubleList } from './trouble-list.js';

interface Props {
  readonly idle: Idle;
  readonly text: IdleText;
  readonly health: Health;
  readonly troubles: readonly Trouble[];
  readonly problems: readonly ProblemEntry[];
  readonly now: number;
  /** Polls /health again. */
  readonly ask: () => void;
}

/** The last known state while no app is served, and a button that calls the bank. */
export function IdleCard({ idle, text, health, troubles, problems, now, ask }: Props) {
  const { rejected } = idle;
  const [result, setResult] = useState('');
  const [isBusy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setResult(await checkNow(problems));
    setBusy(false);
    ask();
  };
  return (
    <section class={`card idle${rejected.length > 0 ? ' rejections' : ''}`} aria-labelledby="headline">
      <div class="card-head">
        <div>
          <h1 id="headline">{text.headline}</h1>
          <p class="lead">
            <b>{text.known}</b> {text.since}
          </p>
          <p class="result" role="status">
            {result}
          </p>
        </div>
        <div class="task">
          <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void (isBusy || check())}>
            {isBusy ? 'Checking…' : 'Check now'}
          </button>
          <p class="quiet">one call with no-cache</p>
        </div>
      </div>
      <div class="columns">
        {rejected.length > 0 ? (
          <Rejections names={rejected} />
        ) : text.normal === null ? (
          <TryCall />
        ) : (
          <div>
            <h2>Is that normal?</h2>
            <p>{text.normal}</p>
          </div>
        )}
        <div>
          <h2>If Check now succeeds</h2>
          <p>
            The gateway and the bank work.{' '}
            {rejected.length > 0 ? (
              'The cause is in the calls themselves.'
            ) : (
              <>
                Ask the app teams, or look at the proxy between them and <b>{health.instance}</b>.
              </>
            )}
          </p>
        </div>
        <div>
          <h2>Next task</h2>
          <NextTask health={health} now={now} />
        </div>
      </div>
      <TroubleList name="Last known" troubles={troubles} />
    </section>
  );
}

/** Whom to ask about calls that are all rejected (4xx). */
const Rejections = ({ names }: { readonly names: readonly string[] }) => (
  <div>
    <h2>Who</h2>
    <p class="main">{names.length === 1 ? 'The team of the app' : 'The teams of the apps'}</p>
    <p>
      {toNames(names)}. Each response names the mistake,{' '}
      <a href="/docs/guide/logs#follow-a-call">the log line of the call</a> its code, or status 499 if it ended early.
    </p>
  </div>
);

/** A first call, to copy. */
function TryCall() {
  const command = `curl -H 'X-Client-Name: my-app' '${location.origin}/api/v1/accounts?pageSize=1'`;
  return (
    <div>
      <h2>Try a call</h2>
      <p>
        <code>{command}</code>
      </p>
      <CopyButton name="Copy the call" text={() => command} />
    </div>
  );
}

/** The result of such a call, in a sentence. */
async function checkNow(problems: readonly ProblemEntry[]): Promise<string> {
  const begun = performance.now();
  try {
    const { page } = await readNow();
    const at = toMoment(serverNow(), serverNow());
    const took = `in ${toGrouped(Math.round(performance.now() - begun))} ms`;
    return `Checked at ${at}: a call gets current data, ${toAccounts(page.total)}, ${took}.`;
  } catch (error) {
    const { code, status, message } = toProblem(error);
    const title = problems.find((each) => each.code === code)?.title ?? message;
    const at = toMoment(serverNow(), serverNow());
    return status === 0
      ? `Checked at ${at}: the gateway does not answer.`
      : `Checked at ${at}: a call fails with ${status} ${code}. ${title}.`;
  }
}
