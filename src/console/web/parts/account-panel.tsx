import { useEffect, useRef } from 'preact/hooks';
import { client } from '../gateway.js';
import { useAnswer } from '../use-answer.js';
import type { Navigate } from '../use-view.js';
import { AccountDetails } from './account-details.js';
import { Text } from './figures.js';
import { Icon } from './icon.js';

const CROSS = 'M4 4l8 8M12 4l-8 8';

interface Props {
  /** Empty while none is open. */
  readonly id: string;
  readonly turn: number;
  readonly navigate: Navigate;
}

/** One account in full, beside the list; it has an address of its own. */
export function AccountPanel({ id, turn, navigate }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = id !== '';

  useEffect(() => {
    const { current } = dialog;
    if (!current || current.open === open) return;
    if (open) current.showModal();
    else current.close();
  }, [open]);

  const leave = () => {
    if ((history.state as { opened?: boolean } | null)?.opened) history.back();
    else navigate({ account: '' }, { replace: true });
  };
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-label="Account"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClick={({ target, currentTarget }) => {
        // the dialog itself is what lies around its content
        if (target === currentTarget) leave();
      }}
    >
      {open && <Content key={id} id={id} turn={turn} leave={leave} navigate={navigate} />}
    </dialog>
  );
}

interface ContentProps extends Props {
  readonly leave: () => void;
}

function Content({ id, turn, leave, navigate }: ContentProps) {
  const { data, problem } = useAnswer(id, turn, (signal) => client.getAccount(id, { signal }));
  const gone = problem?.code === 'account-not-found';
  return (
    <div class="panel-content">
      <header>
        <h2>{data ? <Text text={data.account.name} /> : problem ? 'No account to show' : 'Account'}</h2>
        <button type="button" class="close" aria-label="Close" onClick={leave}>
          <Icon path={CROSS} />
        </button>
      </header>
      {problem && (
        <p class="panel-problem">
          {gone ? 'The list that was last read from the bank has no account with this id.' : problem.message}
        </p>
      )}
      {data && !gone && <AccountDetails account={data.account} asOf={data.snapshot.asOf} navigate={navigate} />}
      {!data && !problem && <span class="placeholder tall" />}
    </div>
  );
}
