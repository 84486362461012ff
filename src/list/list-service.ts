import { getHeapStatistics } from 'node:v8';
import { readPage, type PageFacts } from './bank-page.js';
import { AccountList } from './account-list.js';
import { SharedTexts, toAccount, type Account } from './account.js';
import type { SnapshotFacts } from './document-schemas.js';
import { toDocument, toJsonList, toParts, type WholeDocument } from './documents.js';
import { ListDrift } from './list-drift.js';
import type { Export, Query } from './queries.js';
import { inSlices, type Sliced } from './slices.js';

/** Characters. */
const PIECE_LENGTH = 65_536;

const utf8 = new TextEncoder();

/**
 * Builds one list, from the bank's pages or from a stored copy, and then answers queries about it. Messages from the
 * serving thread call its methods (snapshot/list-thread.ts); the doctor calls them directly.
 */
export class ListService {
  #list = createList();
  #drift = new ListDrift();
  #texts = new SharedTexts();
  readonly #documents = new Map<number, Iterator<string | undefined>>();

  /** Adds a page of the bank. Page 1 restarts the list. @throws GatewayError bank-response-invalid */
  takePage(number: number, body: Uint8Array): PageFacts {
    if (number === 1) {
      this.#list = createList();
      this.#drift = new ListDrift();
    }
    return readPage(number, body, this.#drift, (account) => this.#list.add(toAccount(account, this.#texts)));
  }

  finish() {
    this.#texts = new SharedTexts();
    this.#list.inOrder('name');
    return { accounts: this.#list.size, fields: this.#drift.found() };
  }

  /** Takes the accounts from `toJson` of this or another instance. Returns their number. */
  restore(json: Uint8Array): number {
    const accounts = JSON.parse(new TextDecoder().decode(json)) as Account[];
    for (const account of accounts) this.#list.add(account);
    return this.finish().accounts;
  }

  /** Null for an account that is not in the list. @throws the reason of `signal` */
  document(query: Query, facts: SnapshotFacts, signal?: AbortSignal): Promise<WholeDocument | null> {
    return inSlices(toDocument(this.#list, query, facts), signal);
  }

  /** Null at the end of the document. The first call begins it. @throws the reason of `signal` */
  async nextPiece(
    document: number,
    asked: Query | Export,
    facts: SnapshotFacts,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const parts = this.#documents.get(document) ?? toParts(this.#list, asked, facts);
    this.#documents.set(document, parts);
    const text = await inSlices(toPiece(parts), signal);
    return text === '' ? null : utf8.encode(text);
  }

  closeDocument(document: number): void {
    this.#documents.delete(document);
  }

  /** The accounts as JSON in UTF-8, in order of name; null if they take more than `maxBytes`. */
  async toJson(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const parts = toJsonList(this.#list.inOrder('name'));
    // the whole as one string would take more heap than the accounts
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const text = await inSlices(toPiece(parts));
      if (text === '') return toWhole(pieces, length);
      const piece = utf8.encode(text);
      pieces.push(piece);
      length += piece.length;
      if (length > maxBytes) return null;
    }
  }
}

/** Folded texts take up to a sixteenth of the heap, with two bytes for each character. */
const createList = (): AccountList => new AccountList(getHeapStatistics().heap_size_limit / 32);

function toWhole(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function* toPiece(parts: Iterator<string | undefined>): Sliced<string> {
  let text = '';
  while (text.length < PIECE_LENGTH) {
    const next = parts.next();
    if (next.done) break;
    text += next.value ?? '';
    yield;
  }
  return text;
}
