// The first step of npm scripts: where npm ci could not install what they need, or the script writes and cannot (--writes), one sentence
// names the command that repairs it.
import { problemWithFolder, problemWithNode, problemWithTools, requireAll } from './machine.mjs';

requireAll(problemWithNode(), problemWithTools(), process.argv.includes('--writes') ? problemWithFolder() : null);
