/** A text in which backticks enclose what is typed as it is. */
export const Marked = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));
