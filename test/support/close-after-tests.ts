import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { closeAll, openScope } from './closing.js';

// Jest's setupFilesAfterEnv: everything started by helpers ends with its test, or with the file (closing.ts)
beforeEach(openScope);
afterEach(closeAll);
afterAll(closeAll);
