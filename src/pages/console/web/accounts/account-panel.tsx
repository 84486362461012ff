import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account } from '../shared/gateway.js';
import { client } from './client.js';
import { useAnswer } from '../shared/use-answer.js';
import type { Navigate } from './use-view.js';
import { AccountDetails } from './account-details.js';
import { Text } from './values.js';

const WIDE = '(min-width: 1440px)';

interface Props {
  /** Empty while no account is open. */
  readonly id: string;
  /** Accounts of the list, to go to the previous and next one. */
  readonly accounts: readonly Account[];
  readonly turn: number | string;
  readonly navigate: Navigate;
}

/** One account in full, with its own address: next to the list if there is room, else over it. */
export function AccountPanel(props: Props) {
  const { id, navigate } = props;
  const wide = useWide();
  const dialog = useRef<HTMLDialogElement>(null);
  const aside = useRef<HTMLElement>(null);
  const open = id !== '';
  const leave = () => {
    const isInside = document.activeElement?.closest('.panel');
    dialog.current?.close();
    // the focused button disappears with the panel
    if (isInside) {
      const row = document.querySelector<HTMLElement>('.open-account[aria-current]');
      (row ?? document.getElementById('accounts'))?.focus();
    }
    if ((history.state as { opened?: boolean } | null)?.opened) history.back();
    else navigate({ account: '' }, { replace: true });
  };

  useEffect(() => {
    const { current } = dialog;
    if (!current || current.open === open) return;
    if (open) current.showModal();
    else current.close();
  }, [open, wide]);

  // as in a dialog; a mouse leaves the focus in the list
  useEffect(() => {
    if (document.activeElement?.matches('.open-account:focus-visible')) aside.current?.focus();
  }, [id]);

  useEffect(() => {
    if (!wide || !open) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches('input, select');
      if (event.key === 'Escape' && !typing) leave();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [wide, open]);

  if (wide) {
    return open ? (
      <aside ref={aside} class="card panel" aria-label="Account" tabIndex={-1}>
        <Content {...props} leave={leave} />
      </aside>
    ) : null;
  }
  return (
    <dialog
      ref={dialog}
      class="card panel"
      aria-label="Account"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClick={({ target, currentTarget }) => {
        // clicks on the space around the content hit the dialog itself
        if (target === currentTarget) leave();
      }}
    >
      {open && <Content {...props} leave={leave} />}
    </dialog>
  );
}

function useWide(): boolean {
  const [wide, setWide] = useState(() => window.matchMedia(WIDE).matches);
  useEffect(() => {
    const media = window.matchMedia(WIDE);
    const onChange = () => setWide(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return wide;
}

interface ContentProps extends Props {
  readonly leave: () => void;
}

function Content({ id, accounts, turn, leave, navigate }: ContentProps) {
  const { data, problem, pending } = useAnswer(id, turn, (signal) => client.getAccount(id, { signal, retry: false }));
  const gone = problem?.code === 'account-not-found';
  const at = accounts.findIndex((each) => each.id === id);
  const neighbour = (name: string, sign: string, account: Account | undefined) => (
    <button
      type="button"
      aria-label={name}
      // a disabled button would lose the focus
      aria-disabled={!account}
      onClick={() => account && navigate({ account: account.id }, { replace: true })}
    >
      {sign}
    </button>
  );
  return (
    <div class="panel-content stack" aria-busy={pending}>
      <header class="row">
        <h2 class="grow">{data ? <Text text={data.account.name} /> : problem ? 'No account to show' : 'Account'}</h2>
        {neighbour('Previous account', '‹', accounts[at - 1])}
        {neighbour('Next account', '›', at === -1 ? undefined : accounts[at + 1])}
        <button type="button" aria-label="Close" onClick={leave}>
          ×
        </button>
      </header>
      {problem && <p class="as-of stale">{gone ? 'The snapshot has no account with this id.' : problem.message}</p>}
      {data && !gone && <AccountDetails account={data.account} asOf={data.snapshot.asOf} navigate={navigate} />}
      {!data && !problem && <span class="placeholder" />}
    </div>
  );
}
