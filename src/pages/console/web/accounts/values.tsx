import { splitAmount, splitIban } from './amount.js';

/** Amounts with more characters may wrap. */
const LONG = 28;

/**
 * An amount with its original digits. The gaps between groups are styling, not characters: copying and searching get
 * the text itself. A line breaks only between groups.
 */
export function Amount({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="none">–</span>;
  const { groups, fraction } = splitAmount(text);
  return (
    <span class={text.length > LONG ? 'amount long' : 'amount'}>
      <Groups texts={groups.slice(0, -1)} />
      <span class="group">
        {groups.at(-1)}
        <span class="fraction">{fraction}</span>
      </span>
    </span>
  );
}

/** Today's change, with its direction. */
export function Movement({ text }: { readonly text: string | null }) {
  if (text === null || /^-?0*(\.0*)?$/.test(text)) return <span class="none">–</span>;
  const down = text.startsWith('-');
  return (
    <span class="movement" title={`${down ? 'Less' : 'More'} than at the beginning of the day`}>
      <small class={down ? 'level-bad' : 'level-ok'}>{down ? '▼' : '▲'}</small> <Amount text={text} />
    </span>
  );
}

/** An IBAN in groups of four, or another account number unchanged. */
export function Iban({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="none">–</span>;
  const groups = splitIban(text);
  return <bdi class="iban">{groups ? <Groups texts={groups} /> : text}</bdi>;
}

/** A text from the bank, isolated so that right-to-left letters do not affect the text around it. */
export function Text({ text }: { readonly text: string | null }) {
  return text === null ? <span class="none">–</span> : <bdi>{text}</bdi>;
}

const Groups = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.map((text, index) => (
    <span key={index} class="group">
      {text}
    </span>
  ));
