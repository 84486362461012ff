import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { isSet, type Environment } from './environment.js';
import { readSmallFile } from './small-file.js';
import { KNOWN_NAMES, RENAMED, SECRET_NAMES } from './settings-schema.js';

const READABLE_BY_ALL = 0o004;

/** Names of files with a key in them, besides those of secrets. */
const HOLDS_KEY = new Set(['BANK_PFX_FILE', 'BANK_KEY_FILE', 'SNAPSHOT_KEY_FILE', 'TLS_KEY_FILE']);

const PREFIXES = new Set(KNOWN_NAMES.flatMap((name) => /^[A-Z]+_/.exec(name) ?? []));
const SHORT_NAMES = KNOWN_NAMES.filter((name) => !name.includes('_'));

/** A warning for each variable that looks like a setting and is none, with the nearest known name. */
export function unknownNames(env: Environment): string[] {
  return Object.keys(env).flatMap((name) => {
    const meant = KNOWN_NAMES.includes(name) || name in RENAMED ? null : meantBy(name.toUpperCase());
    return meant === null ? [] : [`${name} is not a setting and is ignored; did you mean ${meant}?`];
  });
}

/** The setting that was probably meant, or null for the name of something else. */
function meantBy(name: string): string | null {
  if (KNOWN_NAMES.includes(name)) return name;
  // PROT, HOTS, PORTS: these have no prefix to tell them by, so only the smallest slips count (not HOME, not PATH)
  const short = SHORT_NAMES.find((each) => distance(name, each) <= 1 || letters(name) === letters(each));
  if (short !== undefined) return short;
  const longer = KNOWN_NAMES.find((each) => each.startsWith(`${name}_`));
  const nearest = longer ?? closest(name, KNOWN_NAMES);
  const prefix = /^[A-Z]+_/.exec(name)?.[0] ?? '';
  // REDIS_HOST and the like are other programs', and Kubernetes' for a service of that name: only slips count
  if (prefix === 'REDIS_') return distance(name, nearest) <= 2 ? nearest : null;
  if (PREFIXES.has(prefix)) return nearest;
  // a slip inside the prefix (BNAK_USERNAME)
  return name.length >= 10 && distance(name, nearest) <= 2 ? nearest : null;
}

const letters = (name: string): string => [...name].toSorted().join('');

/** A warning for each file with a secret in it that every user of the machine may read, and for such a `.env`. */
export function openFiles(env: Environment, envFile?: string): string[] {
  const named = KNOWN_NAMES.filter((name) => HOLDS_KEY.has(name) || isSecretFile(name)).flatMap((name) => {
    const file = env[name];
    return isSet(file) && isOpen(file) ? [`${name} names ${file}, which every user of this machine may read`] : [];
  });
  const own =
    envFile !== undefined && isOpen(envFile) && holdsSecrets(envFile)
      ? [`${envFile} holds secrets, and every user of this machine may read it`]
      : [];
  return [...named, ...own].map((warning) => `${warning}: chmod 600 it, or give it to the gateway alone`);
}

/**
 * A warning for each file with a secret in it that is not plain UTF-8, and for such a `.env`: editors and PowerShell on Windows
 * write UTF-16, or a byte order mark, which would be part of the secret.
 */
export function markedFiles(env: Environment, envFile?: string): string[] {
  const named = KNOWN_NAMES.filter(isSecretFile).flatMap((name) => {
    const file = env[name];
    const coding = isSet(file) ? codingOf(file) : null;
    return coding === null ? [] : [`${name} names ${file}, which ${coding}`];
  });
  const own = envFile === undefined ? null : codingOf(envFile);
  const unread = own === UTF_16 ? [`${envFile} ${own}, so that no setting is found in it`] : [];
  return [...named, ...unread].map((warning) => `${warning}: save it as UTF-8 without a byte order mark`);
}

const UTF_16 = 'is UTF-16';

/** What a text file is instead of plain UTF-8; null where that is not to be seen. */
function codingOf(file: string): string | null {
  let start: string;
  try {
    start = readSmallFile(file).subarray(0, 3).toString('hex');
  } catch {
    // it is reported where it is read
    return null;
  }
  if (/^(fffe|feff)/.test(start)) return UTF_16;
  return start === 'efbbbf' ? 'begins with a byte order mark' : null;
}

const isSecret = (name: string): boolean => SECRET_NAMES.some((each) => each === name);

const isSecretFile = (name: string): boolean => name.endsWith('_FILE') && isSecret(name.replace(/_FILE$/, ''));

function holdsSecrets(envFile: string): boolean {
  const values = parseEnv(readFileSync(envFile, 'utf8'));
  return Object.entries(values).some(([name, value]) => isSet(value) && isSecret(name));
}

function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & READABLE_BY_ALL) !== 0;
  } catch {
    // a file that cannot be looked at is reported where it is read
    return false;
  }
}
