import type { Live } from '../use-live.js';
import { Icon } from './icon.js';

const MARK = 'M2 6.2 8 2.6l6 3.6M3.4 6.6v5.2M6.5 6.6v5.2M9.5 6.6v5.2M12.6 6.6v5.2M2 13.4h12';

/** Who this is, whether it is live, and where else to look. */
export function Header({ live }: { readonly live: Live }) {
  return (
    <header class="top">
      <h1>
        <span class="mark">
          <Icon path={MARK} size={18} />
        </span>
        Accounts gateway
      </h1>
      <nav aria-label="More">
        <a href="/docs">API</a>
        <a href="/health">Health</a>
        <a href="/problems">Error codes</a>
        <span class="version">{live.health ? `v${live.health.version}` : ''}</span>
      </nav>
    </header>
  );
}
