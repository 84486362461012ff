// The requirements of each npm script, in syntax that any Node from 18 on can read.
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = join(ROOT, 'node_modules');
const NODE = 24;
/** npm silently skips native packages that its own Node is too old for. This runs npm ci with Node 24. */
const INSTALL_AGAIN = 'npx --yes --package node@24 -- npm ci --include=dev';
/** Keeps the timestamps of the files, which show whether a build is outdated. */
const COPY = 'cp -Rp . ~/accounts-gateway && cd ~/accounts-gateway && chmod -R u+w .';

/** The sentence about a Node that is too old; null if it is not. */
export function problemWithNode() {
  if (Number(process.versions.node.split('.')[0]) >= NODE) return null;
  const version = `this is Node ${process.versions.node}, and accounts-gateway needs ${NODE}`;
  if (!existsSync(join(PACKAGES, 'node/package.json'))) return `${version}, which npm ci installs: run "npm ci".`;
  return `${version}, which npm did not install because its scripts were off: run "npm rebuild node --ignore-scripts=false".`;
}

/** The sentence about missing tools that build, check and test; null if nothing is missing. */
export function problemWithTools() {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (!existsSync(PACKAGES)) return 'the packages are not installed: run "npm ci".';
  if (Object.keys(devDependencies).some((name) => !existsSync(join(PACKAGES, name)))) {
    return 'the packages that build and test were not installed (--omit=dev, or NODE_ENV=production): run "npm ci --include=dev".';
  }
  if (hasNative('@rolldown')) return null;
  return `npm ci left out packages that need a newer Node than npm ran with: run "${INSTALL_AGAIN}".`;
}

/** @param {string} scope of which npm installs the package for this platform */
function hasNative(scope) {
  const folder = join(PACKAGES, scope);
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('binding-'));
}

/** The sentence about a folder that is not writable; null if it is. */
export function problemWithFolder() {
  try {
    accessSync(ROOT, constants.W_OK);
    return null;
  } catch (error) {
    return `${ROOT} cannot be written (${error.code}): run "${COPY}".`;
  }
}

/** The sentence about a missing build; null if it exists. */
export function problemWithBuild() {
  if (existsSync(join(ROOT, 'dist/main.js'))) return null;
  return 'there is no dist/main.js: run "npm ci && npm run build".';
}

/** Exits with the first of these sentences, if there is one. */
export function requireAll(...problems) {
  const problem = problems.find((each) => each !== null);
  if (problem === undefined) return;
  process.stderr.write(`accounts-gateway: ${problem}\n`);
  process.exit(1);
}
