import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import fastifyPlugin from 'fastify-plugin';
import { GatewayError } from '../errors/gateway-error.js';
import type { Settings } from '../config/settings.js';
import { createClientCheck } from './client-list.js';
import { createOriginCheck } from './cors.js';
import { createHostCheck } from './host-check.js';
import { assertForm, assertReadablePath, malformed } from './request-form.js';
import { isApi, isProbe, toPath } from './request-path.js';

type GuardSettings = Pick<Settings, 'ALLOWED_CLIENTS' | 'ALLOWED_HOSTS' | 'CORS_ORIGINS'>;

/** Refuses requests that `createGuard` refuses, before any hook, middleware or guard that is added to the app. */
export const guard = fastifyPlugin<{ readonly settings: GuardSettings }>(async (fastify, { settings }) => {
  const assertMayCall = createGuard(settings);
  fastify.addHook('onRequest', (request, _reply, done) => {
    assertMayCall(request.raw, request.originalUrl);
    done();
  });
});

/**
 * Decides who may call (docs/api.md#who-may-call): proper HTTP with one of our names as Host, from an allowed address,
 * and not from a page of another site in somebody's browser. Nothing is taken from a forwarding header.
 */
export function createGuard(settings: GuardSettings): (request: IncomingMessage, url: string) => void {
  const isListedOrigin = createOriginCheck(settings.CORS_ORIGINS);
  const isAllowedHost = createHostCheck(settings.ALLOWED_HOSTS);
  const isAllowedClient = createClientCheck(settings.ALLOWED_CLIENTS);

  /** @throws GatewayError malformed-request, request-too-large, host-not-allowed, client-not-allowed */
  return (request, url) => {
    assertForm(request, url);
    const { headers, socket } = request;
    const path = toPath(url);
    if (isProbe(path)) return;
    if (headers.host === undefined) throw malformed('The request has no Host header.');
    if (!isAllowedHost(headers.host, socket.localAddress)) {
      throw new GatewayError(
        'host-not-allowed',
        'The Host header is neither one of ALLOWED_HOSTS nor the address of this connection.',
      );
    }
    if (!isAllowedClient(socket)) {
      throw new GatewayError('client-not-allowed', 'The address of this connection is not in ALLOWED_CLIENTS.');
    }
    const isForeignPage = isCrossSite(headers) && !isListedOrigin(headers.origin);
    if (isForeignPage && isApi(path)) {
      throw new GatewayError(
        'client-not-allowed',
        'A page of another site made this call, and its origin is not in CORS_ORIGINS.',
      );
    }
    assertReadablePath(url);
  };
}

/**
 * True if a page of another site made the call. A navigation by the user does not count, such as a link to
 * a CSV: it has no Origin, and the other site cannot read the answer.
 */
function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  // sent twice, it is a list
  if (site === undefined || !String(site).toLowerCase().includes('cross-site')) return false;
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !isNavigation;
}
