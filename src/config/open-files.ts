import { statSync } from 'node:fs';
import { KNOWN_NAMES, VARIABLES, type VariableName } from './variables.js';

const READABLE_BY_ALL = 0o004;

/** A warning for each file with a secret in it that every user of the machine may read. */
export function openFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  return KNOWN_NAMES.filter((name) => name === 'BANK_PFX_FILE' || isSecretFile(name)).flatMap((name) => {
    const file = env[name];
    return file && isOpen(file)
      ? [
          `${name} names ${file}, which every user of this machine may read: chmod 600 it, or give it to the gateway alone`,
        ]
      : [];
  });
}

function isSecretFile(name: string): boolean {
  const secret = name.replace(/_FILE$/, '');
  return secret !== name && Object.hasOwn(VARIABLES, secret) && VARIABLES[secret as VariableName].secret;
}

function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & READABLE_BY_ALL) !== 0;
  } catch {
    // a file that can't be looked at is told of where it is read
    return false;
  }
}
