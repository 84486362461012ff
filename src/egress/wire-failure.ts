import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import type { Settings } from '../config/settings.js';
import type { CallFailed } from './connection.js';
import { AnswerTooLarge, MAX_HEADER_BYTES } from './wire-client.js';
import { noTlsServerError } from './open-tunnel.js';
import { alertOf, handshakeInWords, isNotTls, isTlsFailure, rejectionInWords, untrustedInWords } from './tls-words.js';

/** Why a response cannot be read, by the code of Node's parser (HPE) or of zlib (Z). */
const INVALID_RESPONSES: Readonly<Record<string, string>> = {
  HPE_CLOSED_CONNECTION: 'goes on after its end',
  HPE_CR_EXPECTED: 'has a line without CR and LF at its end',
  HPE_HEADER_OVERFLOW: `has a header larger than ${MAX_HEADER_BYTES} bytes`,
  HPE_INVALID_CHUNK_SIZE: 'is chunked, with a length of a chunk that is no number',
  HPE_INVALID_CONSTANT: 'does not begin like HTTP',
  HPE_INVALID_CONTENT_LENGTH: 'has a Content-Length that is no number',
  HPE_INVALID_EOF_STATE: 'was cut off',
  HPE_INVALID_HEADER_TOKEN: 'has a header with characters that are not allowed',
  HPE_INVALID_STATUS: 'has a status that is no number',
  HPE_INVALID_TRANSFER_ENCODING: 'has a Transfer-Encoding that does not end with chunked',
  HPE_INVALID_VERSION: 'has an HTTP version that is not 1.0 or 1.1',
  HPE_LF_EXPECTED: 'has a line without CR and LF at its end',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'has two Content-Length headers',
  Z_BUF_ERROR: 'was cut off: its gzip has no end',
  Z_DATA_ERROR: 'could not be decompressed',
};

function responseInWords(code: string | undefined): string {
  const known = INVALID_RESPONSES[code ?? ''];
  if (known !== undefined) return known;
  return code?.startsWith('HPE_') ? 'is not valid HTTP' : 'was cut off or could not be decompressed';
}

/**
 * Judges by how far the connection got and by OpenSSL's words, since Node's error codes differ between versions. The
 * cause is dropped, because an AxiosError carries password, token and body.
 * @param target the other side in words, for messages: "the token endpoint", "the account list"
 * @param timedOut true if the deadline of the whole call had passed
 */
export function toWireError(
  failure: CallFailed,
  target: string,
  timedOut: boolean,
  settings: Pick<Settings, 'BANK_REQUEST_TIMEOUT_MS' | 'BANK_MAX_RESPONSE_BYTES'>,
): GatewayError {
  const { causes, connection, status } = failure;
  const known = causes.find((error) => error instanceof GatewayError);
  if (known) return known;
  const fail = (code: ProblemCode, detail: string, options?: { readonly isRejection: boolean }) =>
    new GatewayError(code, detail.replace(/^the /, 'The '), options);

  const tls =
    causes.find((error) => alertOf(error) !== null) ?? (status === null ? causes.find(isTlsFailure) : undefined);
  const alert = tls ? alertOf(tls) : null;
  const isOfHello = connection !== null && !connection.isSecure && !connection.hasServerHello;
  const rejection = alert && !(alert === '40' && isOfHello) && rejectionInWords(alert);
  if (rejection) return fail('certificate-rejected', `${target} rejected our client certificate: ${rejection}.`);
  if (timedOut) {
    return fail('bank-timeout', `${target} gave no complete answer within ${settings.BANK_REQUEST_TIMEOUT_MS} ms.`);
  }
  if (causes.some((error) => error instanceof AnswerTooLarge)) {
    return fail(
      'bank-response-invalid',
      `The response from ${target} is larger than ${settings.BANK_MAX_RESPONSE_BYTES} bytes (BANK_MAX_RESPONSE_BYTES).`,
    );
  }
  const { address = target, proxy = null, isClassical = false } = connection?.route ?? {};
  if (tls && proxy !== null && isNotTls(tls)) return noTlsServerError(proxy, address);
  if (tls) {
    const code = alert === '80' || alert === '90' ? 'bank-error' : 'bank-untrusted';
    return fail(code, `No TLS with ${address}: ${handshakeInWords(tls)}.`);
  }
  if (connection?.isUntrusted) {
    const untrusted = causes.find((error) => error.code !== undefined) ?? new Error('unknown');
    const words = untrustedInWords(untrusted, connection.untrustedChain);
    return fail('bank-untrusted', `The certificate of ${address} is not trusted: ${words}.`);
  }
  // axios adds its own
  const code = causes.map((error) => error.code).find((each) => each && !/^ERR_(BAD|NETWORK|CANCELED)/.test(each));
  const isReset = causes.some((error) => error.syscall === 'read' && error.code === 'ECONNRESET');
  if (code?.startsWith('HPE_') || (status !== null && !isReset)) {
    const trace = code ? ` (${code})` : '';
    return fail('bank-response-invalid', `The response from ${target} ${responseInWords(code)}${trace}.`);
  }
  if (failure.isRejection) {
    return fail(
      'certificate-rejected',
      `${target} closed two connections in a row after the TLS handshake and before any answer; most likely it rejected our client certificate, because it is unknown or expired, or its chain is missing from the file. An address that is not on the bank's allowlist can have the same effect, as can a bank that asks for the certificate late: then set BANK_TLS_MAX_VERSION=1.2.`,
      { isRejection: false },
    );
  }
  const trace = code ? `, ${code}` : '';
  if (!failure.isClosed || !connection || connection.isSecure) {
    const isClosed = failure.isClosed || isReset;
    const reason = isClosed ? 'The bank closed the connection before its answer was complete' : 'The connection failed';
    return fail('bank-unreachable', `${reason} (${target}${trace}).`);
  }
  const groups = isClassical
    ? ', also when the gateway offered classical key exchange groups only; BANK_TLS_MAX_VERSION=1.2 makes the ClientHello still smaller'
    : '';
  if (proxy !== null && !connection.hasArrived) {
    const detail = `The tunnel of the egress proxy ${proxy} to ${address} was closed before any data arrived; either the proxy closed it, or the bank does not accept the address of the proxy`;
    return fail('bank-unreachable', `${detail}${groups}.`);
  }
  const detail = `The bank closed the connection before the TLS handshake was finished${groups}`;
  return fail('bank-unreachable', `${detail} (${address}${trace}).`);
}
