import { isAbsolute } from 'node:path';

// What an operator most likely mistyped. Each hint continues a sentence that begins with "the value of X". None contains
// the value, which may be a secret.

/** True for a variable that names a file or a directory. */
export const isPath = (variable: string): boolean => /_(?:FILE|DIRECTORY)$/.test(variable);

/**
 * A hint about any value; null if nothing stands out.
 * @param secret true if the value is sent as it is, invisible characters included
 */
export function hintOf(text: string, secret: boolean): string | null {
  if (/^(["'`]).*\1$/s.test(text)) {
    return 'begins and ends with a quote; leave the quotes out unless they belong to it (docker run --env-file keeps them)';
  }
  const hidden = secret && /^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(text);
  return hidden ? 'begins or ends with a space or an invisible character, which is sent as part of it' : null;
}

/** A hint about a path that a shell would have changed; null for any other. */
export const hintOfPath = (path: string): string | null =>
  /^~|\$\w|\$\{|%\w+%/.test(path) ? 'contains ~, $ or %, which only a shell expands; write out the whole path' : null;

/** A hint about a relative path, for a file that cannot be used; null for an absolute one. */
export const hintOfBase = (path: string): string | null =>
  isAbsolute(path) ? null : `is a relative path, from ${process.cwd()}`;
