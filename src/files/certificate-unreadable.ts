/** Machine-readable reason why a client certificate cannot be used (docs/certificates.md#rejected-files). */
type UnreadableReason =
  | 'file'
  | 'passcode'
  | 'damaged'
  | 'wrong-kind'
  | 'unknown-algorithm'
  | 'no-key'
  | 'no-certificate'
  | 'key-mismatch'
  | 'refused-by-tls';

/**
 * A certificate or key that cannot be read. Its message, one line, is the problem and the remedy, without any secret of the
 * file. For bytes without a name, the problem continues a sentence that begins with their file or variable ("is empty").
 */
export class CertificateUnreadable extends Error {
  override readonly name = 'CertificateUnreadable';

  constructor(
    readonly reason: UnreadableReason,
    readonly problem: string,
    readonly remedy: string,
    options?: ErrorOptions,
  ) {
    super(`${problem} ${remedy}`, options);
  }
}
