import { useCallback, useEffect, useState } from 'preact/hooks';
import { readView, toSearch, type View } from './view.js';

/** Changes parts of the view; `replace` adds no history entry. */
export type Navigate = (change: Partial<View>, options?: { readonly replace?: boolean }) => void;

/**
 * The view in the address bar, and a function to change it. Every change to the listed accounts starts at the first
 * page.
 */
export function useView(): readonly [View, Navigate] {
  const [view, setView] = useState(() => readView(location.search));

  useEffect(() => {
    const onPopState = () => setView(readView(location.search));
    window.addEventListener('popstate', onPopState);
    return () => window.removeEventListener('popstate', onPopState);
  }, []);

  const navigate = useCallback<Navigate>((change, { replace = false } = {}) => {
    const next = after(readView(location.search), change);
    if (replace) history.replaceState(history.state, '', toSearch(next));
    // remembered, so that closing an account opened here goes back
    else history.pushState(change.account ? { opened: true } : null, '', toSearch(next));
    setView(next);
  }, []);

  return [view, navigate];
}

/** Returns the view after a change. */
export function after(view: View, change: Partial<View>): View {
  const stays = Object.keys(change).every((name) => name === 'account' || name === 'pageNumber');
  return { ...view, ...(stays ? {} : { pageNumber: 1 }), ...change };
}
