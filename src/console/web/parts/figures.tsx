import { splitAmount, splitIban } from '../amount.js';

/** Longer amounts take more than a line. */
const LONG = 28;

/**
 * An amount with its digits as they came. The gaps between groups are drawn, not written: what is copied, found or read aloud
 * is the text itself.
 */
export function Amount({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="none">–</span>;
  const parts = splitAmount(text);
  const className = text.length > LONG ? 'amount long' : 'amount';
  if (parts === null) return <span class={className}>{text}</span>;
  return (
    <span class={className}>
      <span class="whole">
        {parts.sign}
        <Groups texts={parts.groups} />
      </span>
      <span class="fraction">{parts.fraction}</span>
    </span>
  );
}

/** Today's change, with its direction. */
export function Movement({ text }: { readonly text: string | null }) {
  if (text === null || /^-?0*(\.0*)?$/.test(text)) return <span class="none">–</span>;
  const down = text.startsWith('-');
  return (
    <span
      class={down ? 'movement down' : 'movement up'}
      title={down ? 'Less than at the begin of day' : 'More than at the begin of day'}
    >
      <Amount text={text} />
    </span>
  );
}

/** An IBAN in groups of four, or another number of an account as it is. */
export function Iban({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="none">–</span>;
  const groups = splitIban(text);
  return <bdi class="iban">{groups ? <Groups texts={groups} /> : text}</bdi>;
}

/** A text of the bank: whatever its letters are, they stay within it. */
export function Text({ text }: { readonly text: string | null }) {
  return text === null ? <span class="none">–</span> : <bdi>{text}</bdi>;
}

const Groups = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.map((text, index) => (
    <span key={index} class="group">
      {text}
    </span>
  ));
