import { useEffect } from 'preact/hooks';
import { toFavicon } from './icon.js';
import type { Level } from './level.js';

/** Shows the status in the browser's tab, for people who are looking at another one. */
export function useTab(title: string, level: Level): void {
  useEffect(() => {
    document.title = title;
    document.querySelector('link[rel=icon]')?.setAttribute('href', toFavicon(level));
  }, [level, title]);
}
