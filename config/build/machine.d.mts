// What build.ts takes from machine.mjs, which is no TypeScript because older versions of Node read it.
export function problemWithFolder(): string | null;
export function requireAll(...problems: readonly (string | null)[]): void;
