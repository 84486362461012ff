import { useEffect, useState } from 'preact/hooks';
import { GatewayProblem, readSwitches, resetSwitches, setSwitches, type Switches } from './gateway.js';

/** Shorter than a call's deadline, and long enough for responses to become stale. */
const SLOW_MS = 8000;
/** Reserved for documentation (RFC 5737): no client has this address. */
const NOBODY = '203.0.113.1';
const ALWAYS = 1_000_000;

interface Switch {
  readonly name: string;
  readonly title: string;
  readonly patch: object;
  readonly isOn: (state: Switches) => boolean;
}

const SWITCHES: readonly Switch[] = [
  {
    name: 'Bank down',
    title: 'The bank answers 503 to everything',
    patch: {
      failNext: [
        { endpoint: 'authorize', times: ALWAYS, with: '503' },
        { endpoint: 'accounts', times: ALWAYS, with: '503' },
      ],
    },
    isOn: (state) => isFailing(state, 'accounts', '503'),
  },
  {
    name: 'Bank slow',
    title: `Each answer of the bank takes ${SLOW_MS / 1000} s`,
    patch: { latencyMs: SLOW_MS },
    isOn: ({ latencyMs }) => latencyMs >= SLOW_MS,
  },
  {
    name: 'Wrong password',
    title: 'The bank rejects the password, and every token issued so far',
    patch: { failNext: { endpoint: 'authorize', times: ALWAYS, with: '401' }, revokeTokens: true },
    isOn: (state) => isFailing(state, 'authorize', '401'),
  },
  {
    name: 'No accounts granted',
    title: 'The account list answers 404',
    patch: { grantAccess: false },
    isOn: ({ grantAccess }) => !grantAccess,
  },
  {
    name: 'Not on the allowlist',
    title: 'The bank rejects the address of this gateway',
    // one rejected token makes the gateway request another at once, which the allowlist rejects
    patch: { allowedIps: [NOBODY], failNext: { endpoint: 'accounts', with: '401' } },
    isOn: ({ allowedIps }) => allowedIps.length === 1 && allowedIps[0] === NOBODY,
  },
  {
    name: 'Empty list',
    title: 'The account list answers 200, without accounts',
    patch: { accounts: 0 },
    isOn: ({ accounts }) => accounts === 0,
  },
  {
    name: 'Password changed',
    title: 'Changes the password at the bank and revokes all tokens, to rehearse a password change',
    patch: { password: 'changed-at-the-bank', revokeTokens: true },
    isOn: ({ passwordChanged }) => passwordChanged,
  },
  {
    name: 'Balances move',
    title: 'Made-up balances change over time; those of a recording do not',
    patch: { movement: true },
    isOn: ({ movement }) => movement,
  },
];

/** True while the endpoint is set to fail for as long as the switch is on. */
const isFailing = ({ failNext }: Switches, endpoint: string, failure: string): boolean =>
  failNext.some((order) => order.endpoint === endpoint && order.with === failure && order.times > ALWAYS / 2);

interface Props {
  /** The switches are read again when this changes. */
  readonly turn: number | string;
  /** Makes the gateway refresh now; the page shows the result. */
  readonly refresh: () => void;
}

/** The switches of the sandbox bank. A refresh follows each. */
export function SandboxBar({ turn, refresh }: Props) {
  const [state, setState] = useState<Switches | null>(null);
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState('');

  useEffect(() => {
    const controller = new AbortController();
    readSwitches(controller.signal).then(setState, () => undefined);
    return () => controller.abort();
  }, [turn]);

  async function run(done: string, work: () => Promise<Switches>): Promise<void> {
    setBusy(true);
    try {
      setState(await work());
      setResult(done);
      refresh();
    } catch (error) {
      setResult(error instanceof GatewayProblem ? error.message : 'The switch could not be changed.');
    }
    setBusy(false);
  }

  const flip = (each: Switch) => run(`${each.name}: ${isOn(each) ? 'off' : 'on'}.`, () => setTo(each, !isOn(each)));

  const isOn = (each: Switch): boolean => state !== null && each.isOn(state);

  /**
   * Turns one switch on or off. Off is a reset, which also ends the gateway's back-off; the other switches are then set
   * again.
   */
  async function setTo(turned: Switch, on: boolean): Promise<Switches> {
    if (on) return setSwitches(turned.patch);
    const others = SWITCHES.filter((each) => each !== turned && isOn(each));
    let switches = await resetSwitches();
    // one by one, because two may set errors of the bank
    for (const { patch } of others) switches = await setSwitches(patch);
    return switches;
  }

  return (
    <div class="row between">
      <p>
        <strong>Sandbox</strong> Made-up accounts.
      </p>
      <details class="menu" onKeyDown={closeOnEscape}>
        <summary>Break something ▾</summary>
        <div class="switches" role="group" aria-label="Switches of the sandbox bank" aria-busy={busy}>
          {SWITCHES.map((each) => (
            <button
              key={each.name}
              type="button"
              role="switch"
              aria-checked={isOn(each)}
              title={each.title}
              disabled={state === null}
              onClick={() => void flip(each)}
            >
              {each.name}
            </button>
          ))}
          <button
            type="button"
            title="The bank rejects every token issued so far"
            onClick={() =>
              void run('All tokens are revoked; the gateway gets a new one.', () => setSwitches({ revokeTokens: true }))
            }
          >
            Revoke tokens
          </button>
          <button type="button" onClick={() => void run('All switches are reset.', resetSwitches)}>
            Reset
          </button>
        </div>
      </details>
      <p class="hidden" role="status">
        {result}
      </p>
    </div>
  );
}

function closeOnEscape({ key, currentTarget }: KeyboardEvent): void {
  if (key !== 'Escape' || !(currentTarget instanceof HTMLDetailsElement)) return;
  currentTarget.open = false;
  currentTarget.querySelector('summary')?.focus();
}
