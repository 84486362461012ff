import { useEffect, useState } from 'preact/hooks';
import { toEnvironment } from '../shared/environment.js';
import { client } from '../shared/gateway.js';
import { serverNow, toClock } from '../shared/time.js';
import { useAnswer } from '../shared/use-answer.js';
import { useFrame } from '../shared/use-frame.js';
import { useHealth, type Live } from '../shared/use-health.js';
import { AccountPanel } from './account-panel.js';
import { Accounts } from './accounts.js';
import { Totals } from './totals.js';
import { useExpired } from './use-expired.js';
import { useList, type Listing } from './use-list.js';
import { useView } from './use-view.js';
import { toFilters } from './view.js';

interface Props {
  readonly first: Live;
  readonly root: HTMLElement;
}

/** The page of the data: totals, the list, one account. Balances leave it when their snapshot expires. */
export function AccountsPage({ first, root }: Props) {
  const [view, navigate] = useView();
  const [live, askHealth] = useHealth(first);
  const [round, setRound] = useState(0);
  const listed = useList(view, round);
  const { health, problem } = live;
  const isFailing = problem !== null || listed.problem !== null || listed.data?.snapshot.stale === true;
  const { expiresAt = null } = health?.details.snapshot ?? {};
  const expired = useExpired(isFailing ? expiresAt : null);
  const listing: Listing = expired ? { ...listed, data: null } : listed;

  // the snapshot of the answers: everything of it is asked for again when there is a new one
  const turn = `${health?.details.snapshot.asOf} ${listing.turn}`;
  const { currency: _currency, ...filters } = toFilters(view);
  const totals = useAnswer(JSON.stringify(filters), turn, (signal) =>
    client.getBalances(filters, { signal, retry: false }),
  );
  useFrame(root, live, round, () => {
    askHealth();
    setRound((count) => count + 1);
  });
  useShortcuts();
  // a problem of the list, or none after one, is known before /health is asked again
  useEffect(askHealth, [listing.problem?.code, listing.data?.snapshot.stale]);

  return (
    <>
      <Notice live={live} stale={listing.data?.snapshot.stale === true} expired={expired} />
      <div class="shown stack">
        <Totals answer={expired ? { ...totals, data: null } : totals} view={view} navigate={navigate} />
        <Accounts
          listing={listing}
          view={view}
          navigate={navigate}
          currencies={totals.data?.totals.flatMap(({ currency }) => currency ?? []) ?? []}
          gone={problem !== null}
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
  readonly stale: boolean;
  readonly expired: boolean;
}

/** Why the balances are not as they should be; nothing while they are. */
function Notice({ live, stale, expired }: NoticeProps) {
  const text = toNotice(live, stale, expired);
  return (
    <p class={text ? 'card notice-line' : 'hidden'} role="status">
      {text} {text && <a href="/">Status</a>}
    </p>
  );
}

function toNotice({ health, problem, goneSince }: Live, stale: boolean, expired: boolean): string {
  const { asOf = null, expiresAt = null } = health?.details.snapshot ?? {};
  const gone = problem ? `The gateway has not answered since ${toClock(goneSince ?? serverNow())}. ` : '';
  if (expiresAt === null || asOf === null) return gone;
  const end = toClock(expiresAt);
  if (expired) return `${gone}The balances expired at ${end} and are no longer shown.`;
  return gone || stale ? `${gone}These are the balances of ${toClock(asOf)}. They are shown until ${end}.` : '';
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
