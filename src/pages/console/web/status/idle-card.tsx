import { useState } from 'preact/hooks';
import { toAccounts, toGrouped } from '../shared/count.js';
import { readNow, toProblem, type ProblemEntry } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { serverNow, toMoment } from '../shared/time.js';
import type { Trouble } from './cause.js';
import type { IdleText } from './idle.js';
import { NextTask } from './next-task-line.js';
import { TroubleList } from './trouble-list.js';

interface Props {
  readonly text: IdleText;
  readonly health: Health;
  readonly troubles: readonly Trouble[];
  readonly problems: readonly ProblemEntry[];
  readonly now: number;
  /** Polls /health again. */
  readonly ask: () => void;
}

/** The last known state while nobody calls, and a button that calls the bank. */
export function IdleCard({ text, health, troubles, problems, now, ask }: Props) {
  const [result, setResult] = useState('');
  const [isBusy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setResult(await checkNow(problems));
    setBusy(false);
    ask();
  };
  return (
    <section class="card idle" aria-labelledby="headline">
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
          <p class="quiet">one call to the bank, as an app would make it</p>
        </div>
      </div>
      <div class="columns">
        <div>
          <h2>Is that normal?</h2>
          <p>{text.normal}</p>
        </div>
        <div>
          <h2>If Check now succeeds</h2>
          <p>
            The gateway and the bank work. Ask the app teams, or look at the proxy between them and{' '}
            <b>{health.instance}</b>.
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

/** The result of a call now, after a refresh, in a sentence. */
async function checkNow(problems: readonly ProblemEntry[]): Promise<string> {
  const begun = performance.now();
  try {
    const { page, snapshot } = await readNow();
    const at = toMoment(serverNow(), serverNow());
    const took = `in ${toGrouped(Math.round(performance.now() - begun))} ms`;
    if (snapshot.stale)
      return `Checked at ${at}: a call gets the copy of ${toMoment(snapshot.asOf, serverNow())}. The bank did not answer.`;
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
