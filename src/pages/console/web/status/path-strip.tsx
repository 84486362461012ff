import { LevelIcon } from '../shared/icon.js';
import type { Hop } from './path.js';

/** The path from the client certificate to the apps. The first unhealthy stage is marked. */
export function PathStrip({ hops }: { readonly hops: readonly Hop[] }) {
  // the apps come last: they have the impact, not the cause
  const broken = hops.find(({ level }) => level === 'bad' || level === 'warn');
  return (
    <ol class="card path" aria-label="The path from the bank to the apps">
      {hops.map((hop) => (
        <li key={hop.name} class={`hop hop-${hop.level}${hop === broken ? ' hop-main' : ''}`}>
          <LevelIcon level={hop.level} />
          <b>{hop.name}</b>
          <span>{hop.value}</span>
        </li>
      ))}
    </ol>
  );
}
