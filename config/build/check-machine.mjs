// The first step of npm scripts: where npm ci could not install what they need, one sentence names the command that repairs it.
import { problemWithNode, problemWithTools, requireAll } from './machine.mjs';

requireAll(problemWithNode(), problemWithTools());
