import type { ComponentChildren } from 'preact';
import { after, type Navigate } from './use-view.js';
import { toSearch, type View } from './view.js';

interface Props {
  readonly view: View;
  readonly change: Partial<View>;
  readonly navigate: Navigate;
  readonly class?: string;
  /** For a link that toggles a filter. */
  readonly pressed?: boolean;
  readonly label?: string;
  /** For a link to the current view. */
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

/** A link to another view of this page: it can be copied, and opened in another tab. */
export function ViewLink({ view, change, navigate, class: className, pressed, label, disabled, children }: Props) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (!disabled) navigate(change);
  };
  return (
    <a
      class={className}
      href={toSearch(after(view, change))}
      aria-current={pressed ? 'true' : undefined}
      aria-label={label}
      aria-disabled={disabled}
      onClick={onClick}
    >
      {children}
    </a>
  );
}
