import { useEffect, useState } from 'preact/hooks';
import { GatewayProblem, readSwitches, resetSwitches, turnSwitches, type Switches } from '../gateway.js';

/** Within the deadline of a call, and long enough for answers to become stale meanwhile. */
const SLOW_MS = 8000;
/** Reserved for examples (RFC 5737): nobody has it. */
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
    isOn: ({ failNext }) => failNext.some(({ times }) => times > ALWAYS / 2),
  },
  {
    name: 'Bank slow',
    title: `Each answer of the bank takes ${SLOW_MS / 1000} s`,
    patch: { latencyMs: SLOW_MS },
    isOn: ({ latencyMs }) => latencyMs >= SLOW_MS,
  },
  {
    name: 'No accounts granted',
    title: 'The account list answers 404',
    patch: { grantAccess: false },
    isOn: ({ grantAccess }) => !grantAccess,
  },
  {
    name: 'Address not white-listed',
    title: 'The bank refuses the address of this gateway',
    // one refused token: the gateway asks for another at once, and is told there what is wrong
    patch: { allowedIps: [NOBODY], failNext: { endpoint: 'accounts', with: '401' } },
    isOn: ({ allowedIps }) => allowedIps.length === 1 && allowedIps[0] === NOBODY,
  },
  {
    name: 'Balances move',
    title: 'Balances change over time',
    patch: { movement: true },
    isOn: ({ movement }) => movement,
  },
];

/** Says that nothing here is real, and has the switches of the sandbox bank. */
export function SandboxBar({ turn: stateTurn }: { readonly turn: number }) {
  const [state, setState] = useState<Switches | null>(null);
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState({ text: '', shown: false });

  useEffect(() => {
    const controller = new AbortController();
    readSwitches(controller.signal).then(setState, () => undefined);
    return () => controller.abort();
  }, [stateTurn]);

  /** What a switch says of itself is for who cannot see it: a line that came would move the page. */
  async function run(said: string, work: () => Promise<Switches>, shown = false): Promise<void> {
    setBusy(true);
    try {
      setState(await work());
      setTold({ text: said, shown });
    } catch (error) {
      setTold({ text: error instanceof GatewayProblem ? error.message : 'That did not work.', shown: true });
    }
    setBusy(false);
  }

  const turn = (each: Switch) =>
    state && each.isOn(state)
      ? run(`${each.name}: off.`, () => turnOff(each))
      : run(`${each.name}: on.`, () => turnSwitches(each.patch));

  /** Off means back, and asking the bank at once; what else is on is turned on again. */
  async function turnOff(off: Switch): Promise<Switches> {
    const others = SWITCHES.filter((each) => each !== off && state && each.isOn(state));
    let switches = await resetSwitches();
    // one by one: two may order faults
    for (const { patch } of others) switches = await turnSwitches(patch);
    return switches;
  }

  return (
    <section class="sandbox" aria-label="Sandbox">
      <p>
        <strong>Sandbox</strong> Made-up accounts, no real bank.
      </p>
      <div class="switches" role="group" aria-label="Switches of the sandbox bank" aria-busy={busy}>
        {SWITCHES.map((each) => (
          <button
            key={each.name}
            type="button"
            role="switch"
            aria-checked={state !== null && each.isOn(state)}
            title={each.title}
            disabled={state === null}
            onClick={() => void turn(each)}
          >
            {each.name}
          </button>
        ))}
        <button
          type="button"
          class="action"
          title="Every token issued so far is refused from now on"
          onClick={() =>
            void run(
              'All tokens are revoked; the gateway gets a new one.',
              () => turnSwitches({ revokeTokens: true }),
              true,
            )
          }
        >
          Revoke tokens
        </button>
        <button type="button" class="action" onClick={() => void run('All switches are set back.', resetSwitches)}>
          Set all back
        </button>
      </div>
      <p class={told.shown ? 'told' : 'hidden'} role="status">
        {told.text}
      </p>
    </section>
  );
}
