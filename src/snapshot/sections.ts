import type { Account } from './account.js';
import { SORT_FIELDS } from './sort-order.js';

/** Version of the form of snapshots; an instance takes no stored copy of another version. */
export const FORM_VERSION = 3;

/** Header of a snapshot. */
export interface SnapshotHeader {
  readonly accounts: number;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  readonly complete: boolean | null;
  /** SHA-256 of all accounts as base64url: the same content has the same digest. */
  readonly digest: string;
}

/** The filters that compare one value of an account, without letter case; a filter of this kind is added here. */
export const COLUMNS = {
  status: (account: Account) => account.status,
  currency: (account: Account) => account.currency,
  ownerId: (account: Account) => account.owner.id,
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type ColumnField = keyof typeof COLUMNS;
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[];

/** Sections of a snapshot. Accounts are in the order of their ids; a position is an index in that order. */
export const SECTIONS = {
  ...named(['json', 'search', 'numbers'], { Bytes: 'u8', Offsets: 'u32' }),
  ...named(COLUMN_FIELDS, { Codes: 'u32', Values: 'u8' }),
  ...named(SORT_FIELDS, { Ranks: 'u32' }),
} as const;

function named<const N extends string, const K extends Readonly<Record<string, 'u8' | 'u32'>>>(
  names: readonly N[],
  kinds: K,
) {
  return Object.fromEntries(
    names.flatMap((name) => Object.entries(kinds).map(([part, kind]) => [`${name}${part}`, kind])),
  ) as { [P in keyof K & string as `${N}${P}`]: K[P] };
}
