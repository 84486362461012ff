import { readPage, type PageFacts } from './read-page.js';
import { GatewayError } from '../errors/gateway-error.js';
import { AccountListBuilder } from './account-list-builder.js';
import type { AccountList } from './account-list.js';
import { toAccount, type Account } from './account.js';
import { answer, toParts } from './documents.js';
import { SharedTexts } from './shared-texts.js';
import type { Answer, Export, Question, SnapshotFacts } from './questions.js';

/** Bytes of one piece of an export, about. */
const PIECE_LENGTH = 65_536;

const utf8 = new TextEncoder();

/**
 * What a list thread does: it builds one list, from the bank's pages or from a stored copy, and then answers questions about it.
 * Each method is called by a message from the serving thread (list-thread.ts).
 */
export class ListService {
  #builder = new AccountListBuilder();
  #texts = new SharedTexts();
  #list: AccountList | null = null;
  readonly #exports = new Map<number, Iterator<string>>();
  #lastExport = 0;

  /** Adds a page of the bank. Page 1 restarts the list. @throws GatewayError bank-response-invalid */
  takePage(number: number, body: Uint8Array): PageFacts {
    if (number === 1) this.#builder = new AccountListBuilder();
    return readPage(number, body, (account) => this.#builder.add(toAccount(account, this.#texts)));
  }

  /** Completes the list. Returns its number of accounts. */
  finish(): number {
    this.#list = this.#builder.build();
    this.#builder = new AccountListBuilder();
    this.#texts = new SharedTexts();
    return this.#list.size;
  }

  /** Takes the accounts of `toJson`, of this or another instance. Returns their number. */
  restore(json: Uint8Array): number {
    const accounts = JSON.parse(new TextDecoder().decode(json)) as Account[];
    for (const account of accounts) this.#builder.add(account);
    return this.finish();
  }

  /** Null for an account that is not in the list. */
  answer(question: Question, facts: SnapshotFacts): Answer | null {
    return answer(this.#whole, question, facts);
  }

  /** Begins an export; returns its number for `nextPiece`. */
  openExport(asked: Question | Export, facts: SnapshotFacts): number {
    this.#lastExport += 1;
    this.#exports.set(this.#lastExport, toParts(this.#whole, asked, facts));
    return this.#lastExport;
  }

  /** The next piece of an export; null at its end, or after `closeExport`. */
  nextPiece(number: number): Uint8Array<ArrayBuffer> | null {
    const parts = this.#exports.get(number);
    if (!parts) return null;
    let text = '';
    while (text.length < PIECE_LENGTH) {
      const next = parts.next();
      if (next.done) {
        this.#exports.delete(number);
        break;
      }
      text += next.value;
    }
    return text === '' ? null : utf8.encode(text);
  }

  closeExport(number: number): void {
    this.#exports.delete(number);
  }

  /** The accounts as JSON in UTF-8, in order of name; null if they take more than `maxBytes`. */
  toJson(maxBytes: number): Uint8Array<ArrayBuffer> | null {
    const texts: string[] = [];
    let length = 0;
    for (const { account } of this.#whole.select({ filters: {}, sort: 'name' })) {
      const text = JSON.stringify(account);
      length += text.length + 1;
      if (length > maxBytes) return null;
      texts.push(text);
    }
    const bytes = utf8.encode(`[${texts.join(',')}]`);
    return bytes.length <= maxBytes ? bytes : null;
  }

  get #whole(): AccountList {
    if (!this.#list) throw new GatewayError('internal-error', 'The list is not complete.');
    return this.#list;
  }
}
