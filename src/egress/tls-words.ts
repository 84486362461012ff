import type { X509Certificate } from 'node:crypto';
import { toDistinguishedName } from '../files/certificate-files.js';
import { whyNotValid } from '../files/examine-certificates.js';

const MAX_NAME_LENGTH = 200;

/**
 * The TLS alerts with which a server rejects the client's certificate (RFC 8446 §6.2); alert 40 only after the ServerHello.
 * The words fit any server.
 */
const REJECTION_ALERTS: Readonly<Record<string, string>> = {
  40: 'it does not accept the certificate',
  42: 'it cannot use the certificate; the issuer, the chain or the signature may be the reason',
  43: 'it does not support certificates of this kind',
  44: 'the certificate was revoked',
  45: 'for the bank, the certificate, one of its chain, or its own list of revoked certificates (CRL) has expired; its clock may also be wrong',
  46: 'it does not accept the certificate, for a reason that it does not name',
  47: 'it cannot use what the certificate contains',
  48: 'it does not know the issuer of the certificate, the chain is incomplete, or its list of revoked certificates (CRL) has none of this issuer',
  49: 'it denies access with the certificate; the issuer, the chain or a revocation may be the reason',
  51: 'it could not verify the signature of the certificate; its CA may have a new key',
  116: 'no certificate arrived',
};

/** Other alerts: 80 and 90 mean `bank-error`, the rest `bank-untrusted`. Each proves that the network works. */
const OTHER_ALERTS: Readonly<Record<string, string>> = {
  70: 'there is no common TLS version',
  71: 'it requires stronger ciphers than ours',
  80: 'an internal error of the server',
  112: 'it does not recognize the requested name',
  120: 'there is no common application protocol',
};

/** OpenSSL's errors for a handshake that fails on our side. The first match counts. */
const OWN_FAILURES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^(wrong version number|packet length too long|http request|unknown protocol)/, 'the server does not speak TLS'],
  [/legacy renegotiation/, 'the server supports only the old, insecure renegotiation'],
  [
    /protocol|ssl version|version too low/,
    'there is no common TLS version; the gateway speaks TLS 1.2, and 1.3 unless BANK_TLS_MAX_VERSION is 1.2',
  ],
  [/cipher/, 'there is no common cipher'],
  [/(curve|group|key share|dh key|ecpoint|dh param)/, 'there is no common, strong enough key exchange group'],
  [/(key too small|too weak|security level)/, 'a key or a signature of the server is too weak'],
  [/(signature|sigalg|digest)/, 'there is no common, strong enough signature algorithm'],
];

const UNKNOWN_ISSUER = 'its issuer is not known, because the root is not trusted or the server sends no intermediates';

/** By the runtime's code. */
export const UNTRUSTED: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'by the clock of this machine it has expired',
  CERT_NOT_YET_VALID: 'by the clock of this machine it is not valid yet',
  CERT_UNTRUSTED: 'its root is not trusted for servers',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  INVALID_PURPOSE: 'it is not for servers',
  SELF_SIGNED_CERT_IN_CHAIN: 'its root is not among the trusted ones',
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
};

/** The number of the TLS alert from the other side, the same in all versions of Node; null without one. */
export const alertOf = ({ message }: Error): string | null => /SSL alert number (\d+)/.exec(message)?.[1] ?? null;

/** True for an alert, and for a TLS failure on our side; false for an untrusted server. */
export const isTlsFailure = (error: NodeJS.ErrnoException): boolean =>
  alertOf(error) !== null || error.code === 'EPROTO' || /^ERR_(SSL_|TLS_(?!CERT_))/.test(error.code ?? '');

/** Why the bank rejected our certificate; null for any other alert. */
export const rejectionInWords = (alert: string): string | null =>
  alert in REJECTION_ALERTS ? `${REJECTION_ALERTS[alert]} (TLS alert ${alert})` : null;

/**
 * Why a server's certificate is not trusted: words first, the code in brackets.
 * @param chain empty if it is not known
 */
export function untrustedInWords({ code, message }: NodeJS.ErrnoException, chain: readonly X509Certificate[]): string {
  // OpenSSL has no separate code for these
  const isWeak = /too weak|too small/.test(message);
  const isOfDates = chain.length > 0 && /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code ?? '');
  const known = isOfDates ? `by the clock of this machine ${datesInWords(chain)}` : UNTRUSTED[code ?? ''];
  const words = isWeak ? 'its key or its signature is too weak' : (known ?? 'OpenSSL rejects it');
  return code === undefined ? words : `${words} (${code})`;
}

/** Which certificate of a chain is not valid by the clock of this machine, and the date. */
function datesInWords(chain: readonly X509Certificate[]): string {
  const now = new Date();
  const wrong = chain.find((each) => whyNotValid(each, now) !== null);
  if (!wrong) return 'an issuer that it does not send is not valid; look at the CA file';
  const of = wrong === chain[0] ? 'it' : 'the certificate of its issuer';
  // a name may contain anything
  const name = toDistinguishedName(wrong.subject)
    .replace(/[\p{Cc}\p{Cf}]/gu, '?')
    .slice(0, MAX_NAME_LENGTH);
  return `${of} (${name}) ${whyNotValid(wrong, now)}`;
}

/** Why a handshake failed: words first, the alert or OpenSSL's reason in brackets. */
export function handshakeInWords(error: NodeJS.ErrnoException): string {
  const alert = alertOf(error);
  if (alert === '40') return 'there is no common TLS version, cipher or key exchange group (TLS alert 40)';
  if (alert !== null) return `${OTHER_ALERTS[alert] ?? 'it ended the handshake'} (TLS alert ${alert})`;
  const reason = reasonOf(error);
  const words = OWN_FAILURES.find(([pattern]) => pattern.test(reason))?.[1] ?? 'its messages are not valid TLS';
  return `${words} (${reason})`;
}

/** True if the other side did not respond with TLS at all. */
export const isNotTls = (error: NodeJS.ErrnoException): boolean =>
  /^(wrong version number|packet length too long|http request|unknown protocol|record overflow|.*invalid record)/.test(
    reasonOf(error),
  );

/**
 * OpenSSL's reason, in its words. Taken from the message, because Node reports only EPROTO while the request is still
 * waiting to be sent: `write EPROTO 80…:error:0A000102:SSL routines:ssl_choose_client_version:unsupported protocol:…`.
 */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  const reason = /error:[0-9A-F]{8}:[^:]*:[^:]*:([a-z0-9 -]{1,60}):/i.exec(message)?.[1];
  return (
    reason ??
    (code ?? 'unknown')
      .replace(/^ERR_(SSL|TLS)_/, '')
      .replaceAll('_', ' ')
      .toLowerCase()
  );
}
