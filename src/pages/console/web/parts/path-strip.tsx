import type { Hop } from '../path.js';
import { LevelIcon } from './icon.js';

/** The path from the bank's certificate to the apps. Only the stage that is broken is large. */
export function PathStrip({ hops }: { readonly hops: readonly Hop[] }) {
  // the apps are last: they have the impact, not the cause
  const broken = hops.find(({ level }) => level === 'bad' || level === 'warn');
  return (
    <ol class="card path" aria-label="The path to the bank">
      {hops.map((hop) => (
        <li key={hop.name} class={`hop hop-${hop.level}${hop === broken ? ' hop-main' : ''}`} title={hop.title}>
          <LevelIcon level={hop.level} size={14} />
          <b>{hop.name}</b>
          <span>{hop.value}</span>
        </li>
      ))}
    </ol>
  );
}
