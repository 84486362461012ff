import type { Account } from './account.js';
import type { SortField } from './sort-order.js';

/**
 * Version of the form of snapshots; an instance takes no stored copy of another version. Raise it with every change of the
 * header, of the sections, or of an account's JSON: a copy of the old form would be taken for one of the new.
 */
export const FORM_VERSION = 4;

/** Header of a snapshot. */
export interface SnapshotHeader {
  readonly accounts: number;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  readonly complete: boolean | null;
}

/** The filters that compare one value of an account, without letter case. Add a filter of this kind here. */
export const COLUMNS = {
  status: ({ status }) => status,
  currency: ({ currency }) => currency,
  ownerId: ({ owner }) => owner.id,
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type ColumnField = keyof typeof COLUMNS;
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[];

/** The texts of each account: what is sent, and what is searched. */
export type TextField = 'json' | 'search' | 'numbers';

/**
 * Sections of a snapshot; `digest` is the SHA-256 of all JSON. Accounts are in the order of their ids; a position is an index in
 * that order.
 */
export type Sections = Readonly<
  Record<'digest' | `${TextField}Bytes` | `${ColumnField}Values`, Uint8Array> &
    Record<`${TextField}Offsets` | `${ColumnField}Codes` | `${SortField}Ranks`, Uint32Array>
>;
