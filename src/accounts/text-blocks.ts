import type { Account } from './account.js';
import type { Carried } from './carried.js';
import { foldText } from './fold-text.js';
import type { Pause } from './pause.js';

/** So many accounts share one text, which is searched as a whole. */
const BLOCK = 256;

interface Block {
  readonly text: string;
  /** Where each account's part begins. */
  readonly starts: Uint32Array;
}

export type TextBlocks = readonly Block[];

/** Stands between and around texts; no value that is searched for has one. */
const BETWEEN = '\n';

/** What is searched in an account by `q`: name, description, IBAN, identifier and owner, folded. */
export function toSearchText({ name, description, ibans, identifiers, owner }: Account): string {
  const texts = [name, description, ...ibans, ...identifiers.map(({ account }) => account)];
  return toLines([...texts, owner.id, owner.name, owner.number].map((text) => text && foldText(text)));
}

/** All IBANs and identifiers of an account, in the form in which they are compared. */
export function toIbanText({ ibans, identifiers }: Account): string {
  return toLines([...ibans, ...identifiers.map(({ account }) => account)].map((text) => text && foldIban(text)));
}

/** An IBAN without spaces and letter case. */
export function foldIban(iban: string): string {
  return iban.replace(/\s+/g, '').toUpperCase();
}

function toLines(texts: readonly (string | null)[]): string {
  return `${BETWEEN}${[...new Set(texts)].filter(Boolean).join(BETWEEN)}${BETWEEN}`;
}

/** The value as a whole one in the lines of `toIbanText`. */
export const asWhole = (folded: string): string => `${BETWEEN}${folded}${BETWEEN}`;

/** Blocks in which no text has changed since the reading before are taken from there. */
export async function buildTextBlocks(
  toText: (account: Account) => string,
  accounts: readonly Account[],
  before: Carried<TextBlocks> | null,
  pause: Pause,
): Promise<TextBlocks> {
  const blocks: Block[] = [];
  for (let start = 0; start < accounts.length; start += BLOCK) {
    const wait = pause();
    if (wait) await wait;
    const members = accounts.slice(start, start + BLOCK);
    const old = before?.value[start / BLOCK];
    const unchanged = old?.starts.length === members.length && sameTexts(before, members, start);
    blocks.push(unchanged && old ? old : toBlock(members.map(toText)));
  }
  return blocks;
}

/** Parts that have not changed are the same objects (see `share`). */
function sameTexts(before: Carried<TextBlocks> | null, members: readonly Account[], start: number): boolean {
  return members.every((now, index) => {
    const old = before?.accounts[start + index];
    return (
      old === now ||
      (old?.id === now.id &&
        old.name === now.name &&
        old.description === now.description &&
        old.ibans === now.ibans &&
        old.identifiers === now.identifiers &&
        old.owner === now.owner)
    );
  });
}

function toBlock(texts: readonly string[]): Block {
  const starts = new Uint32Array(texts.length);
  let length = 0;
  texts.forEach((text, index) => {
    starts[index] = length;
    length += text.length;
  });
  return { text: texts.join(''), starts };
}

/** Marks in `mask`, which holds zeros, every account in whose text `needle` stands. */
export function markMatches(blocks: TextBlocks, needle: string, mask: Uint8Array): void {
  blocks.forEach(({ text, starts }, number) => {
    let member = 0;
    let found = text.indexOf(needle);
    while (found !== -1) {
      while (member + 1 < starts.length && (starts[member + 1] as number) <= found) member += 1;
      mask[number * BLOCK + member] = 1;
      if (member + 1 === starts.length) return;
      found = text.indexOf(needle, starts[member + 1]);
    }
  });
}
