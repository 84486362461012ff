// node config/build/run.mjs SCRIPT [ARGUMENTS]: runs a TypeScript script, after a check of the machine.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import './check-machine.mjs';
import { followShell } from './follow-shell.mjs';

followShell();

const [script = '', ...args] = process.argv.slice(2);
const file = resolve(script);
process.argv.splice(1, Infinity, file, ...args);
await import(pathToFileURL(file).href);
