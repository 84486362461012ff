import { closest, distance } from 'fastest-levenshtein';
import { KNOWN_NAMES } from './variables.js';

const PREFIXES = /^(BANK|EGRESS|SNAPSHOT|ALLOWED|TLS|CORS|SHUTDOWN|SANDBOX|MAX|REQUEST|LOG)_/;

/** A warning for each variable that looks like one of ours and is not, with the nearest known name. */
export function unknownNames(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => !KNOWN_NAMES.includes(name) && looksLikeOurs(name))
    .map(
      (name) => `${name} is not a setting and is ignored; did you mean ${closest(name.toUpperCase(), KNOWN_NAMES)}?`,
    );
}

function looksLikeOurs(name: string): boolean {
  const upper = name.toUpperCase();
  if (PREFIXES.test(upper)) return true;
  // a slip inside the prefix (BNAK_USERNAME)
  return upper.length >= 10 && distance(upper, closest(upper, KNOWN_NAMES)) <= 2;
}
