import { createHash } from 'node:crypto';
import type { Account } from './account.js';
import type { AccountList, Selection } from './account-list.js';
import { toCsv } from './csv.js';
import type { Answer, Export, Question, SnapshotFacts } from './questions.js';
import { toTotals } from './totals.js';

/** Longer documents are not built as a whole. */
const MAX_LENGTH = 4 * 1024 * 1024;

const utf8 = new TextEncoder();

/** The answer to a question; null for an account that is not in the list. */
export function answer(list: AccountList, question: Question, facts: SnapshotFacts): Answer | null {
  const properties = toProperties(list, question);
  if (properties === null) return null;
  const hash = createHash('sha256');
  const parts: string[] = [];
  let length = 0;
  for (const part of properties) {
    hash.update(part);
    length += part.length;
    if (length <= MAX_LENGTH) parts.push(part);
  }
  // excludes the times, which change without the data
  hash.update(JSON.stringify([facts.stale, facts.complete]));
  const digest = hash.digest('base64url').slice(0, 27);
  const body = length <= MAX_LENGTH ? utf8.encode([...toDocument(parts, facts)].join('')) : null;
  return { digest, body };
}

/** A document in parts: of any length, for a question that `answer` has a null body for, or an export. */
export function* toParts(list: AccountList, asked: Question | Export, facts: SnapshotFacts): Generator<string> {
  switch (asked.kind) {
    case 'csv':
      return yield* toCsv(accountsOf(list, asked.selection), facts.asOf, asked.dialect);
    case 'ndjson':
      for (const account of accountsOf(list, asked.selection)) yield `${JSON.stringify(account)}\n`;
      return;
    default:
      yield* toDocument(toProperties(list, asked) ?? [], facts);
  }
}

function* toDocument(properties: Iterable<string>, facts: SnapshotFacts): Generator<string> {
  yield '{';
  yield* properties;
  yield `,"snapshot":${JSON.stringify(facts)}}`;
}

/** The properties of the document but for `snapshot`, as JSON in parts; null for an account that is not in the list. */
function toProperties(list: AccountList, question: Question): Iterable<string> | null {
  switch (question.kind) {
    case 'accounts': {
      const { selection, number, size } = question;
      const matching = list.select(selection);
      const start = (number - 1) * size;
      const total = matching.length;
      const page = { number, size, total, hasMore: start + size < total };
      return toPage(
        matching.slice(start, start + size).map(({ account }) => account),
        page,
      );
    }
    case 'account': {
      const account = list.find(question.id);
      return account === undefined ? null : [`"account":${JSON.stringify(account)}`];
    }
    case 'totals':
      return [`"totals":${JSON.stringify(toTotals(accountsOf(list, { filters: question.filters, sort: 'name' })))}`];
  }
}

function* accountsOf(list: AccountList, selection: Selection): Generator<Account> {
  for (const { account } of list.select(selection)) yield account;
}

function* toPage(accounts: readonly Account[], page: object): Generator<string> {
  yield '"accounts":[';
  for (const [index, account] of accounts.entries()) yield `${index === 0 ? '' : ','}${JSON.stringify(account)}`;
  yield `],"page":${JSON.stringify(page)}`;
}
