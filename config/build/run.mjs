// node config/build/run.mjs SCRIPT [ARGUMENTS]: runs a script in TypeScript, on a machine that has what it needs.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import './check-machine.mjs';
import { followShell } from './follow-shell.mjs';

followShell();

const [script = '', ...args] = process.argv.slice(2);
const file = resolve(script);
process.argv.splice(1, Infinity, file, ...args);
await import(pathToFileURL(file).href);
