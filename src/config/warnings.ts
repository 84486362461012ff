import { closest, distance } from 'fastest-levenshtein';
import { BANK_NAMES, KNOWN_NAMES, SECRET_NAMES } from './settings-schema.js';

const PREFIXES = [...new Set(KNOWN_NAMES.flatMap((name) => /^[A-Z]+_/.exec(name) ?? []))];
const MIN_OPEN_FILES = 256;

/** Warns of unknown variables with one of our prefixes, with the nearest setting. */
export function unknownNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((name) => {
    const prefix = PREFIXES.find((each) => name.startsWith(each));
    if (prefix === undefined || KNOWN_NAMES.includes(name)) return [];
    const nearest = closest(name, [...KNOWN_NAMES]);
    // Kubernetes sets REDIS_PORT and the like for a service of that name
    if (prefix === 'REDIS_' && distance(name, nearest) > 2) return [];
    return [`${name} is not a setting and is ignored (did you mean ${nearest}?)`];
  });
}

/** Bank settings that are set but ignored, because the sandbox is the bank. */
export const ignoredNames = (env: NodeJS.ProcessEnv): string[] =>
  BANK_NAMES.flatMap((name) => (SECRET_NAMES.includes(name) ? [name, `${name}_FILE`] : [name])).filter((name) =>
    Boolean(env[name]),
  );

/** Warns of an open-file limit (RLIMIT_NOFILE) that a few hundred connections would reach. */
export const fewFiles = (limit: number): string[] =>
  limit < MIN_OPEN_FILES
    ? [`this process may open only ${limit} files (RLIMIT_NOFILE); raise the limit to at least ${MIN_OPEN_FILES}`]
    : [];
