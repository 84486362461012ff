import { useEffect, useState } from 'preact/hooks';
import { toClipboard } from './to-clipboard.js';

const SHOWN_MS = 2000;

interface Props {
  readonly name: string;
  /** Label for screen readers, which cannot see the context. */
  readonly label?: string;
  readonly class?: string | undefined;
  readonly text: () => string;
}

/** Copies a text, and shows whether that worked. */
export function CopyButton({ name, label, class: className, text }: Props) {
  const [result, setResult] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => setResult(''), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [result]);
  return (
    <button
      type="button"
      class={className}
      aria-label={label}
      onClick={() => void toClipboard(text()).then((done) => setResult(done ? 'Copied' : 'Copying is blocked'))}
    >
      <span aria-live="polite">{result || name}</span>
    </button>
  );
}
