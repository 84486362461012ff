// accounts-gateway-client/testing, without its types (client/src/testing.ts)
import type * as Public from '../src/testing.js';
import { fakeAccount } from './fake-account.js';
import { createFakeGateway } from './fake-gateway.js';
import { mswHandlers } from './msw-handlers.js';
import { playwrightRoute } from './playwright-route.js';

({ createFakeGateway, fakeAccount, mswHandlers, playwrightRoute }) satisfies typeof Public;

export { createFakeGateway, fakeAccount, mswHandlers, playwrightRoute };
