// The first step of npm run start:prod, which needs Node and a build, but no package.
import { problemWithBuild, problemWithNode, requireAll } from './machine.mjs';

requireAll(problemWithNode(), problemWithBuild());
