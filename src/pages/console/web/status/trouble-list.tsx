import type { Trouble } from './cause.js';

interface Props {
  readonly name: string;
  readonly troubles: readonly Trouble[];
}

/** The last line of a card: problems that it does not explain, each with its runbook; nothing without one. */
export function TroubleList({ name, troubles }: Props) {
  if (troubles.length === 0) return null;
  return (
    <p class="also quiet">
      {name}:{' '}
      {troubles.map(({ part, code, title }, index) => (
        <span key={part}>
          {index > 0 && ', '}
          <a href={`/problems/${code}`}>{title}</a>
          {part === 'listener' && ' (of this API)'}
        </span>
      ))}
    </p>
  );
}
