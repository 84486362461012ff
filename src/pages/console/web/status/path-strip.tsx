import { LevelIcon } from '../shared/icon.js';
import type { Hop } from './path.js';

interface Props {
  readonly hops: readonly Hop[];
  /** Name of the stage that the incident's card explains. */
  readonly main?: string | undefined;
}

/** The path from the client certificate to the apps. The cause of the incident is marked. */
export function PathStrip({ hops, main }: Props) {
  const broken = hops.find(({ name, level }) => name === main && (level === 'bad' || level === 'warn'));
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
