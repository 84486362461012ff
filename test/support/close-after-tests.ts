import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { closeAll, openScope } from './closing.js';

// Jest's setupFilesAfterEnv: everything that helpers start ends with its test, or with the file (closing.ts)
beforeEach(openScope);
afterEach(closeAll);
afterAll(closeAll);
