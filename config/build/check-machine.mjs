// A first step of npm scripts. Prints the first sentence of machine.mjs that applies. --writes: the script must write.
// --built: it needs a build, and no packages.
import { problemWithBuild, problemWithFolder, problemWithNode, problemWithTools, requireAll } from './machine.mjs';

requireAll(
  problemWithNode(),
  process.argv.includes('--built') ? problemWithBuild() : problemWithTools(),
  process.argv.includes('--writes') ? problemWithFolder() : null,
);
