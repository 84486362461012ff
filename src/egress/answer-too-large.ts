/** The answer has, or announces, more bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}
