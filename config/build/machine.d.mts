// The exports of machine.mjs that build.ts uses. machine.mjs is not TypeScript, because older versions of Node must run
// it.
export function problemWithFolder(): string | null;
export function requireAll(...problems: readonly (string | null)[]): void;
