/** Replaced by the build. */
declare const __BUNDLED__: boolean | undefined;

/** A bundled module is in dist/ itself; tests run from the sources beside it. */
const DIST = new URL(typeof __BUNDLED__ === 'undefined' ? '../../dist/' : './', import.meta.url);

/** The address of a file in dist/ that is not a module: a worker thread, the console page, a document. */
export const builtFile = (name: string): URL => new URL(name, DIST);
