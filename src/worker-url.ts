/**
 * Where the compiled file of a worker thread is, `./name.worker.js` beside the module `from` (an import.meta.url). A
 * module of its own because the tests, which run TypeScript, put another in its place.
 */
export const workerUrl = (file: string, from: string): URL => new URL(file, from);
