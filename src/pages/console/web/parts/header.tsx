import { serverNow, toClock } from '../time.js';
import type { Live } from '../use-health.js';
import { useSeconds } from '../use-now.js';
import { toEnvironment } from '../environment.js';

interface Props {
  readonly live: Live;
  readonly utc: boolean;
  readonly setUtc: (utc: boolean) => void;
}

/** The name of this gateway, and its clock. */
export function Header({ live: { health }, utc, setUtc }: Props) {
  const environment = toEnvironment(health);
  const { bank } = health?.details ?? {};
  const facts = [bank?.host, health?.instance && `instance ${health.instance}`, health && `v${health.version}`];
  return (
    <header class={`top row kind-${environment.kind}`}>
      <h1>Accounts gateway</h1>
      <span class="environment">{environment.name}</span>
      <p class="quiet grow">{facts.filter(Boolean).join(' · ')}</p>
      <nav class="row quiet" aria-label="More">
        <a href="#accounts">Accounts</a>
        <a href="/docs">API</a>
        <a href="/docs/guide">Runbooks</a>
        <a href="/problems">Errors</a>
      </nav>
      <Clock utc={utc} setUtc={setUtc} />
    </header>
  );
}

function Clock({ utc, setUtc }: Omit<Props, 'live'>) {
  useSeconds();
  const now = serverNow();
  return (
    <button
      type="button"
      class="plain clock"
      title={utc ? 'Show local times' : 'Show times in UTC'}
      onClick={() => setUtc(!utc)}
    >
      {toClock(now)} {utc ? 'UTC' : 'local'}
    </button>
  );
}
