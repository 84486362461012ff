import { useEffect, useState } from 'preact/hooks';
import { toEnvironment } from '../shared/environment.js';
import { readProblems, type ProblemEntry } from '../shared/gateway.js';
import { client } from './client.js';
import { serverNow, toMoment } from '../shared/time.js';
import { useAnswer } from '../shared/use-answer.js';
import { useFrame } from '../shared/use-frame.js';
import { useHealth, type Live } from '../shared/use-health.js';
import { useTab } from '../shared/use-tab.js';
import { toGoneIncident, toIncident } from '../status/incident.js';
import { AccountPanel } from './account-panel.js';
import { Accounts } from './accounts.js';
import { Totals } from './totals.js';
import { useList, type Listing } from './use-list.js';
import { useView } from './use-view.js';
import { toFilters } from './view.js';

interface Props {
  readonly first: Live;
  readonly root: HTMLElement;
}

/** The data page: totals, the list, one account. Balances disappear when their snapshot expires. */
export function AccountsPage({ first, root }: Props) {
  const [view, navigate] = useView();
  const [live, askHealth] = useHealth(first);
  const [round, setRound] = useState(0);
  const listed = useList(view, round);
  const { health, problem } = live;
  // an invalid search is not a failure
  const isInvalid = listed.problem?.status === 400;
  const isListFailing = listed.problem !== null && !isInvalid;
  const isFailing = problem !== null || isListFailing || listed.snapshot?.stale === true;
  // nothing watches the rows of the previous view
  const isPast = useExpired(listed.snapshot?.expiresAt, isFailing);
  const listing: Listing = isPast ? { ...listed, data: null } : listed;
  const expired = listing.data === null && listing.snapshot !== null;
  const problems = useAnswer('problems', '', readProblems).data;

  // after a new snapshot or new rows, totals and the open account are fetched again
  const turn = `${health?.details.snapshot.asOf} ${listing.turn}`;
  const { currency: _currency, ...filters } = toFilters(view);
  const totals = useAnswer(JSON.stringify(filters), turn, (signal) =>
    client.getBalances(filters, { signal, retry: false }),
  );
  const totalsExpired = useExpired(totals.data?.snapshot.expiresAt, isFailing);
  const askList = () => setRound((count) => count + 1);
  useFrame(root, live, round, () => {
    askHealth();
    askList();
  });
  const incident = problem
    ? toGoneIncident(problem, live.goneSince ?? '', problems ?? [])
    : health && toIncident(health, serverNow(), problems ?? []);
  useTab(`${incident ? `${incident.cause.title} · ` : ''}Accounts · Accounts gateway`, incident?.level ?? 'ok');
  useShortcuts();
  // a problem of the list, or its end, is known before /health is polled again
  useEffect(askHealth, [listing.problem?.code, listing.data?.snapshot.stale]);
  // /health may show that a call would succeed long before the list's next attempt
  const isReady = problem === null && health !== null && health.status !== 'error';
  useEffect(() => {
    if (isReady && listing.problem) askList();
  }, [isReady]);

  return (
    <>
      <h1 class="hidden">Accounts and totals</h1>
      <Notice
        live={live}
        snapshot={isFailing ? listing.snapshot : null}
        expired={expired}
        failing={isListFailing}
        problems={problems ?? []}
      />
      <div class="shown stack">
        <Totals
          answer={expired || totalsExpired ? { ...totals, data: null } : totals}
          view={view}
          navigate={navigate}
        />
        <Accounts
          listing={listing}
          view={view}
          navigate={navigate}
          currencies={totals.data?.totals.flatMap(({ currency }) => currency ?? []) ?? []}
          gone={problem !== null}
          expired={expired}
          environment={health ? toEnvironment(health).name : ''}
          host={health?.details.bank.host ?? ''}
        >
          <AccountPanel
            id={expired ? '' : view.account}
            accounts={listing.data?.accounts ?? []}
            turn={turn}
            navigate={navigate}
          />
        </Accounts>
      </div>
    </>
  );
}

interface NoticeProps {
  readonly live: Live;
  /** Snapshot of balances that cannot be renewed; null while they can. */
  readonly snapshot: Listing['snapshot'];
  readonly expired: boolean;
  /** True if the list could not be read, except for a wrong search. */
  readonly failing: boolean;
  readonly problems: readonly ProblemEntry[];
}

/** The reason why the balances are not normal; nothing while they are. */
function Notice(props: NoticeProps) {
  const text = toNotice(props);
  return (
    <p class={text ? 'card notice-line' : 'hidden'} role="status">
      {text} {text && <a href="/">Status</a>}
    </p>
  );
}

function toNotice({ live, snapshot, expired, failing, problems }: NoticeProps): string {
  const { health, problem, goneSince } = live;
  const now = serverNow();
  const since = `The gateway has not answered since ${toMoment(goneSince ?? now, now)}. `;
  const gone = problem ? (problem.status === 0 ? since : 'The gateway does not allow this page. ') : '';
  // the sentence from the status page
  const why = !problem && health ? `${toIncident(health, now, problems)?.headline ?? ''} ` : gone;
  if (snapshot === null) return failing ? why : gone;
  const end = toMoment(snapshot.expiresAt, now);
  if (expired) return `${why}The balances expired at ${end} and are no longer shown.`;
  return `${gone}These are the balances of ${toMoment(snapshot.asOf, now)}. They are shown until ${end} at the latest.`;
}

/** True once the gateway's clock has passed this instant during a failure. It then stays true for the same instant. */
export function useExpired(expiresAt: string | null | undefined, isFailing: boolean): boolean {
  const [past, setPast] = useState<string | null>(null);
  useEffect(() => {
    if (!isFailing || !expiresAt) return undefined;
    const timer = window.setTimeout(() => setPast(expiresAt), Date.parse(expiresAt) - serverNow());
    return () => window.clearTimeout(timer);
  }, [expiresAt, isFailing]);
  return past !== null && past === expiresAt;
}

/** "/" focuses the search, as on other sites. */
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
