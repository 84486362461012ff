import { GatewayError } from '../problems/gateway-error.js';
import type { WireAnswer } from './wire-client.js';

/** The first bytes of the body as latin1, without joining all chunks. */
export function startOf({ pieces }: Pick<WireAnswer, 'pieces'>, bytes: number): string {
  let text = '';
  for (const piece of pieces) {
    if (text.length === bytes) break;
    text += piece.toString('latin1', 0, bytes - text.length);
  }
  return text;
}

/** False for a body that cannot be non-empty JSON: empty, HTML, noise. Only parsing shows whether it is valid. */
export const startsLikeJson = (answer: Pick<WireAnswer, 'pieces'>): boolean =>
  /^(\xef\xbb\xbf)?\s*[[{]/.test(startOf(answer, 1024));

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body, which must be UTF-8; a byte order mark is dropped. @throws GatewayError bank-response-invalid */
export function toText(body: Uint8Array, target: string): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new GatewayError('bank-response-invalid', `The response from ${target} is not valid UTF-8.`);
  }
}
