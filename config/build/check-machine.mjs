// The first step of npm scripts: where npm ci could not install what they need, or the script writes and cannot (--writes), or takes a build
// that is not there (--built, which needs no package), one sentence names the command that repairs it.
import { problemWithBuild, problemWithFolder, problemWithNode, problemWithTools, requireAll } from './machine.mjs';

requireAll(
  problemWithNode(),
  process.argv.includes('--built') ? problemWithBuild() : problemWithTools(),
  process.argv.includes('--writes') ? problemWithFolder() : null,
);
