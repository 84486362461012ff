// The first step of npm scripts. Prints one sentence with the command that fixes the problem: npm ci could not install
// a needed package, the script must write but cannot (--writes), or it needs a missing build (--built, which needs no
// packages).
import { problemWithBuild, problemWithFolder, problemWithNode, problemWithTools, requireAll } from './machine.mjs';

requireAll(
  problemWithNode(),
  process.argv.includes('--built') ? problemWithBuild() : problemWithTools(),
  process.argv.includes('--writes') ? problemWithFolder() : null,
);
