/** A part of a page of the guide, as in /docs/guide/search.json. */
export interface Part {
  readonly page: string;
  readonly heading: string;
  readonly href: string;
  readonly text: string;
}

const MAX_FOUND = 12;

/** At most 12 parts that contain every word, in any letter case; those with all of them in the titles first. */
export function findParts(parts: readonly Part[], typed: string): Part[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hasAll = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const isTitled = ({ page, heading }: Part) => hasAll(`${page} ${heading}`);
  const found = parts.filter(({ page, heading, text }) => hasAll(`${page} ${heading} ${text}`));
  return found.toSorted((a, b) => Number(isTitled(b)) - Number(isTitled(a))).slice(0, MAX_FOUND);
}
