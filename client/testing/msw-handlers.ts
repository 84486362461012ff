import type { FakeGateway } from '../src/testing.js';
import { toPath } from './paths.js';

interface Execution {
  readonly request: Request;
  readonly requestId: string;
}

/** The shape of MSW's RequestHandler: its class is in MSW, which an app without MSW lacks. */
export function mswHandlers({ fetch }: Pick<FakeGateway, 'fetch'>): unknown[] {
  const predicate = ({ request }: { request: Request }) => toPath(request.url) !== null;
  const handler = {
    kind: 'request',
    // older versions of MSW 2
    __kind: 'RequestHandler',
    info: { header: 'accounts-gateway-client/testing' },
    isUsed: false,
    predicate,
    test: async (args: Execution) => predicate(args),
    parse: async () => ({}),
    log: () => undefined,
    reset: () => undefined,
    restore: () => undefined,
    complete: () => undefined,
    dispose: () => undefined,
    async run({ request, requestId }: Execution) {
      if (!predicate({ request })) return null;
      const response = await fetch(request.clone()).catch((error: unknown) => {
        // the caller left, or nothing responds
        if (request.signal.aborted || error instanceof TypeError) return Response.error();
        throw error;
      });
      return { handler, request, requestId, parsedResult: {}, response };
    },
  };
  return [handler];
}
