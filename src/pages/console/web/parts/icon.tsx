import type { Level } from '../path.js';

const SHAPES: Readonly<Record<Level, string>> = {
  ok: 'M5 8.4l2.1 2.1L11.2 6',
  warn: 'M8 4.4v4.4M8 11.3v.2',
  bad: 'M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2',
  unknown: '',
};

const WORDS: Readonly<Record<Level, string>> = {
  ok: 'healthy',
  warn: 'degraded',
  bad: 'broken',
  unknown: 'not checked',
};

/** A level as colour, shape and word. An unknown one is hollow. */
export function LevelIcon({ level, size = 16 }: { readonly level: Level; readonly size?: number }) {
  return (
    <svg
      class={`level level-${level}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      role="img"
      aria-label={WORDS[level]}
    >
      <circle cx="8" cy="8" r="7" />
      <path d={SHAPES[level]} />
    </svg>
  );
}

const COLOURS: Readonly<Record<Level, string>> = { ok: '#1a7f4b', warn: '#b87400', bad: '#c2352b', unknown: '#697586' };

/** The icon of the page in the browser's tab. */
export function toFavicon(level: Level): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${COLOURS[level]}"/><path d="${SHAPES[level]}" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
