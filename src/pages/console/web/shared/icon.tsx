import type { Level } from './level.js';

const SHAPES: Readonly<Record<Level, string>> = {
  ok: 'M5 0a5 5 0 1 0 .01 0z',
  warn: 'M5 -.6L10.6 5L5 10.6L-.6 5z',
  bad: 'M1.6 .2L5 3.6L8.4 .2L9.8 1.6L6.4 5L9.8 8.4L8.4 9.8L5 6.4L1.6 9.8L.2 8.4L3.6 5L.2 1.6z',
  unknown: 'M5 .8a4.2 4.2 0 1 0 .01 0z',
};

const WORDS: Readonly<Record<Level, string>> = {
  ok: 'healthy',
  warn: 'degraded',
  bad: 'broken',
  unknown: 'not checked',
};

/** A level as color, shape and word: dot, diamond, cross or ring. */
export const LevelIcon = ({ level, size = 10 }: { readonly level: Level; readonly size?: number }) => (
  <svg
    class={`level level-${level}`}
    width={size}
    height={size}
    viewBox="-1 -1 12 12"
    role="img"
    aria-label={WORDS[level]}
  >
    <path d={SHAPES[level]} />
  </svg>
);

const COLOURS: Readonly<Record<Level, string>> = { ok: '#1a7f4b', warn: '#8f5400', bad: '#c2352b', unknown: '#697586' };

/** The icon of the page in the browser's tab, in the color of the status. */
export function toFavicon(level: Level): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-3 -3 16 16"><rect x="-3" y="-3" width="16" height="16" rx="4" fill="${COLOURS[level]}"/><path d="${SHAPES[level]}" fill="#fff"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
