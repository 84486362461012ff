/** TLS alerts with which a server refuses the client's certificate (RFC 8446 §6.2), in words. */
const REFUSALS: Readonly<Record<string, string>> = {
  40: 'it does not accept the certificate',
  42: 'the certificate is damaged, or its signature does not verify',
  43: 'it does not support certificates of this kind',
  44: 'the certificate was revoked',
  45: 'the certificate has expired',
  46: 'it does not accept the certificate, for a reason that it does not name',
  47: 'it cannot use what the certificate contains',
  48: 'it does not know the issuer of the certificate, or the chain is incomplete',
  116: 'no certificate arrived',
};

const OTHER_ALERTS: Readonly<Record<string, string>> = {
  20: 'it received damaged data',
  49: 'it denied access',
  50: 'it could not read a message',
  51: 'it could not verify a signature',
  70: 'there is no common TLS version',
  71: 'it requires stronger ciphers than ours',
  80: 'an internal error of the server',
  112: 'it does not recognize the requested name',
  120: 'there is no common application protocol',
};

const NOT_TLS = 'the server does not speak TLS';

/** Codes of OpenSSL for a handshake that fails on our side. */
const HANDSHAKE: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  EPROTO: 'the messages of the server are not valid TLS',
};

const UNKNOWN_ISSUER = 'its issuer is not known, because the root is not trusted or the server sends no intermediates';

const UNTRUSTED: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  CERT_REVOKED: 'it was revoked',
  CERT_UNTRUSTED: 'its root is not trusted for servers',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  HOSTNAME_MISMATCH: 'it is for another name',
  INVALID_PURPOSE: 'it is not for servers',
  SELF_SIGNED_CERT_IN_CHAIN: 'its root is not among the trusted ones',
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
};

/** The number of the TLS alert that the other side sent, which is the same in all versions of Node; else null. */
export const alertOf = ({ message }: Error): string | null => /SSL alert number (\d+)/.exec(message)?.[1] ?? null;

/** Why the bank refused our certificate; null for an alert that does not say that. */
export const refusalInWords = (alert: string): string | null =>
  alert in REFUSALS ? `${REFUSALS[alert]} (TLS alert ${alert})` : null;

/** Why a certificate of a server is not trusted: words first, the code in brackets. */
export function untrustedInWords(code: string | undefined): string {
  const words = UNTRUSTED[code ?? ''] ?? 'OpenSSL rejects it';
  return code === undefined ? words : `${words} (${code})`;
}

/** Why a handshake failed, for an alert or a code; undefined where there are no better words than its code. */
export const handshakeInWords = (alert: string | null, code: string | undefined): string | undefined =>
  alert === null ? HANDSHAKE[code ?? ''] : OTHER_ALERTS[alert];

/**
 * True if client and server have no TLS version or cipher in common. Alert 40 says so only in place of the server's first
 * message; after the server's certificate, it refuses ours.
 */
export function lacksCommonTls(error: NodeJS.ErrnoException, hasServerCertificate: boolean): boolean {
  const alert = alertOf(error);
  if (alert === '40') return !hasServerCertificate;
  if (alert !== null) return alert === '70' || alert === '71';
  return /UNSUPPORTED_PROTOCOL|WRONG_SSL_VERSION|VERSION_TOO_LOW|NO_PROTOCOLS_AVAILABLE|WRONG_CIPHER|KEY_TOO_SMALL|NO_CIPHERS/.test(
    error.code ?? '',
  );
}
