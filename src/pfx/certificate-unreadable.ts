/** Why a client certificate cannot be used, as a word for programs; the message explains it to people. */
export type UnreadableReason =
  /** The file could not be opened at all. */
  | 'file'
  | 'passcode'
  | 'not-pfx'
  | 'cut-off'
  | 'unknown-algorithm'
  | 'damaged'
  | 'no-key'
  | 'no-certificate'
  | 'key-mismatch'
  | 'refused-by-tls';

/**
 * The one error of this folder. Its message is a single line: the cause, then the remedy. It never contains the
 * passcode, key material or other contents of the file.
 */
export class CertificateUnreadable extends Error {
  override readonly name = 'CertificateUnreadable';

  constructor(
    readonly reason: UnreadableReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
