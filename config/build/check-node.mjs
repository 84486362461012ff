// The first step of npm run start:prod, which needs Node but none of the packages.
import { problemWithNode, requireAll } from './machine.mjs';

requireAll(problemWithNode());
