import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { toAnswerError } from './answer-error.js';

const answer = (status: number, body: Buffer | string = '', headers: IncomingHttpHeaders = {}) => ({
  status,
  headers,
  body: Buffer.from(body as string),
});

describe('a response', () => {
  const both = ['token', 'accounts'] as const;

  it.each(both)('with 200 from the %s is not an error', (target) => {
    expect(toAnswerError(answer(200, '\ufeff\n{'), target)).toBeNull();
  });

  it.each(['', '<html>', 'null'])('with 200 and the body %j is not valid', (body) => {
    const error = toAnswerError(answer(200, body), 'accounts');
    expect(error).toMatchObject({ code: 'bank-response-invalid', owner: 'bank' });
  });

  it.each([
    [both, 408, 'bank-error', 'bank', 503],
    [both, 429, 'bank-rate-limited', 'bank', 503],
    [both, 500, 'bank-error', 'bank', 503],
    [both, 503, 'bank-error', 'bank', 503],
    [both, 599, 'bank-error', 'bank', 503],
    [both, 301, 'bank-refused', 'operator', 502],
    [both, 308, 'bank-refused', 'operator', 502],
    [both, 412, 'bank-refused', 'operator', 502],
    [both, 418, 'bank-refused', 'operator', 502],
    [both, 201, 'bank-response-invalid', 'bank', 502],
    [both, 204, 'bank-response-invalid', 'bank', 502],
    [both, 206, 'bank-response-invalid', 'bank', 502],
    [both, 304, 'bank-response-invalid', 'bank', 502],
    [['token'], 400, 'credentials-rejected', 'operator', 502],
    [['token'], 401, 'credentials-rejected', 'operator', 502],
    [['token'], 403, 'address-not-allowed', 'operator', 502],
    [['token'], 404, 'bank-refused', 'operator', 502],
    [['accounts'], 400, 'bank-refused', 'operator', 502],
    [['accounts'], 401, 'bank-refused', 'operator', 502],
    [['accounts'], 403, 'bank-refused', 'operator', 502],
    [['accounts'], 404, 'access-not-granted', 'bank', 502],
  ] as const)('from %p with %i is %s, owner %s, and a %i for the caller', (targets, status, code, owner, ours) => {
    for (const target of targets) {
      const error = toAnswerError(answer(status, 'hunter2'), target);
      expect([error?.code, error?.owner, error?.status]).toEqual([code, owner, ours]);
      const name = target === 'token' ? 'The token endpoint' : 'The account list';
      expect(error?.detail).toMatch(new RegExp(`^${name} answered .*${status}`));
      expect(error?.detail).not.toContain('hunter2');
    }
  });

  it.each([
    ['token', 400, 'allowlist'],
    ['token', 401, 'allowlist'],
    ['token', 403, 'allowlist'],
    ['accounts', 403, 'allowlist'],
    ['accounts', 404, 'BANK_BASE_URL'],
  ] as const)('from the %s with %i leads to a detail that also mentions %s', (target, status, named) => {
    expect(toAnswerError(answer(status), target)?.detail).toContain(named);
  });

  it.each([204, 302, 400, 401, 403, 404, 418, 429, 503])('with %i keeps the Retry-After of the bank', (status) => {
    for (const target of both) {
      expect(toAnswerError(answer(status, '', { 'retry-after': '9' }), target)?.retryAfterMs).toBe(9000);
      expect(toAnswerError(answer(status, ''), target)?.retryAfterMs).toBeUndefined();
    }
  });

  /** Pages of real servers, shortened. */
  const PAGES = [
    ['nginx', 400, '<html>\r\n<head><title>400 The SSL certificate error</title></head>'],
    ['nginx', 400, '<html><head><title>400 No required SSL certificate was sent</title></head>'],
    ['nginx', 495, ''],
    ['nginx', 496, '<html>'],
    ['Apache', 403, '<p>You do not have permission. Reason: Cannot perform Post-Handshake Authentication.<br /></p>'],
    ['IIS', 403, '<style>p{}</style><h2>403.7 - Forbidden: <i>Client</i>&nbsp;certificate required</h2>'],
    ['IIS', 403, '<h3>HTTP Error 403.16: the client certificate is not trusted or is invalid</h3>'],
    ['haproxy', 403, 'A client certificate is required.'],
    ['IIS in German', 403, '<h2>403.7 - Verboten: Clientzertifikat erforderlich</h2>'],
    ['Traefik', 403, 'access denied: mTLS certificate verification failed'],
    ['a gateway', 403, '{"error":"CLIENT_CERTIFICATE_REQUIRED"}'],
    ['a gateway', 403, '{"error":{"code":"client_cert_not_provided"}}'],
    ['a gateway', 400, '{"code":"ClientCertificateMissing"}'],
    ['a gateway', 400, '{"detail":"The certificate could not be verified."}'],
    ['a gateway', 403, '{"message":"Invalid certificate"}'],
    ['a portal with a long head', 403, `<style>${'p{}'.repeat(9_000)}</style>A client certificate is required.`],
    ['Kong', 400, '{"message":"No required TLS certificate was sent"}'],
  ] as const;

  it.each(PAGES)(
    'from %s with %i and a page about the client certificate means a rejected certificate',
    (_who, status, body) => {
      for (const target of both) {
        const error = toAnswerError(answer(status, body), target);
        expect(error).toMatchObject({ code: 'certificate-rejected', owner: 'operator' });
      }
    },
  );

  it.each([
    [400, '<html>Blocked'],
    [403, '<html>Your address is not allowed'],
    [403, 'The page is certified by nobody'],
    [403, 'A certificate of origin is for goods; the client is not allowed'],
    [404, PAGES[0][2]],
    [500, PAGES[0][2]],
  ])('with %i and the body %s does not mean a rejected certificate', (status, body) => {
    for (const target of both)
      expect(toAnswerError(answer(status, body), target)?.code).not.toBe('certificate-rejected');
  });

  it.each([
    ['Basic realm="x, Negotiate"', '', /user name or password is wrong.*allowlist/],
    ['Negotiate, NTLM', '', /asks for Negotiate or NTLM.*BANK_AUTH_URL/],
    [undefined, 'Kein Client certificate', /page about the client certificate/],
  ])('with 401 leads to advice that fits WWW-Authenticate: %s and the page "%s"', (authenticate, body, detail) => {
    const error = toAnswerError(answer(401, body, { 'www-authenticate': authenticate }), 'token');
    expect(error).toMatchObject({ code: 'credentials-rejected', detail: expect.stringMatching(detail) });
  });
});
