import { splitAmount, splitIban } from './amount.js';

/** Amounts with more characters may wrap. */
const LONG = 28;

interface AmountProps {
  readonly text: string | null;
  /** Characters of the longest fraction in the column, for aligned decimal points. */
  readonly widest?: number;
}

/**
 * An amount with its original digits. The gaps between groups are styling, not characters: copying, searching and
 * screen readers get the text itself, so its parts are inline. A line breaks only between groups.
 */
export function Amount({ text, widest = 0 }: AmountProps) {
  if (text === null) return <span class="none">–</span>;
  const { groups, fraction } = splitAmount(text);
  return (
    <span class={text.length > LONG ? 'amount long' : 'amount'}>
      {groups.map((group, index) => (
        <span key={index} class="digits">
          {group}
        </span>
      ))}
      <span class="fraction" data-rest={'.000000'.slice(fraction.length, widest)}>
        {fraction}
      </span>
    </span>
  );
}

/** Today's change, with its direction. */
export function Movement({ text, widest = 0 }: AmountProps) {
  if (text === null || /^-?0*(\.0*)?$/.test(text)) return <span class="none">–</span>;
  const down = text.startsWith('-');
  return (
    <span class="movement" title={`${down ? 'Less' : 'More'} than at the beginning of the day`}>
      <small class={down ? 'level-bad' : 'level-ok'}>{down ? '▼' : '▲'}</small> <Amount text={text} widest={widest} />
    </span>
  );
}

/** An IBAN in groups of four, or another account number unchanged. */
export function Iban({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="none">–</span>;
  const groups = splitIban(text);
  return (
    <bdi class="iban">
      {groups?.map((group, index) => (
        <span key={index} class="group">
          {group}
        </span>
      )) ?? text}
    </bdi>
  );
}

/** A text from the bank, isolated so that right-to-left letters do not affect the text around it. */
export function Text({ text }: { readonly text: string | null }) {
  return text === null ? <span class="none">–</span> : <bdi>{text}</bdi>;
}
