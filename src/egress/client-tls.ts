/**
 * What egress needs to speak TLS as us: a value handed down by auth. Egress never knows where it came from, and shows
 * it to the bank only, never to a proxy.
 */
export interface ClientTls {
  /** PEM, PKCS#8, unencrypted. */
  readonly key: string;
  /** PEM, the leaf first, then its intermediates. */
  readonly cert: string;
  /** PEM of the only roots trusted for the bank; null for the runtime's own. */
  readonly ca: string | null;
}
