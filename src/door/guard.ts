import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../problems/gateway-error.js';
import type { DoorSettings } from '../settings/settings.js';
import { createClientList } from './client-list.js';

/** Open to probes of any kind; they say the status only. */
const EXEMPT = new Set(['/health/live', '/health/ready']);

/** What the guard looks at; nothing of it is taken from a forwarding header. */
export interface Caller {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly address: string;
}

/**
 * Decides who may call (contract §3, Guard): proper HTTP with one Host of ours, from an allowed address, and not from a
 * foreign page in somebody's browser.
 */
export function createGuard(settings: DoorSettings): (caller: Caller) => void {
  const isAllowedClient = createClientList(settings.allowedClients);
  const allowedHosts = new Set(settings.allowedHosts);
  const origins = new Set(settings.corsOrigins);

  /** @throws GatewayError malformed-request, host-not-allowed, client-not-allowed */
  return ({ request, path, address }) => {
    if (!request.url?.startsWith('/')) {
      throw new GatewayError(
        'malformed-request',
        'The request names an absolute address or none; send a path that begins with a slash.',
      );
    }
    if (countHosts(request.rawHeaders) > 1) {
      throw new GatewayError('malformed-request', 'The request has more than one Host header.');
    }
    if (EXEMPT.has(path)) return;
    const { host } = request.headers;
    if (host === undefined) throw new GatewayError('malformed-request', 'The request has no Host header.');
    if (!allowedHosts.has(toName(host))) {
      throw new GatewayError('host-not-allowed', 'The name in the Host header is not one of ALLOWED_HOSTS.');
    }
    if (!isAllowedClient(address)) {
      throw new GatewayError('client-not-allowed', 'The address of this connection is not in ALLOWED_CLIENTS.');
    }
    const crossSite = request.headers['sec-fetch-site'] === 'cross-site';
    if (crossSite && path.startsWith('/api') && !origins.has(request.headers.origin ?? '')) {
      throw new GatewayError(
        'client-not-allowed',
        'A page of another site made this call, and its origin is not in CORS_ORIGINS.',
      );
    }
  };
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The name in a Host header, lower-case and without port; "" when it is not one name. */
function toName(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1] ?? '';
}
