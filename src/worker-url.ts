/**
 * Where a built file is that runs or is served as it is, a worker thread or the console page, by its path from the module
 * `from` (an import.meta.url). A module of its own because the tests, which run TypeScript, put another in its place.
 */
export const workerUrl = (file: string, from: string): URL => new URL(file, from);
