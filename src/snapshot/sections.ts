import type { Account } from './account.js';
import { SORT_FIELDS } from './sort-order.js';

/** Header of a snapshot. */
export interface SnapshotHeader {
  readonly accounts: number;
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  readonly complete: boolean | null;
}

/** The filters that compare one value of an account, without letter case; a filter of this kind is added here. */
export const COLUMNS = {
  status: (account: Account) => account.status,
  currency: (account: Account) => account.currency,
  ownerId: (account: Account) => account.owner.id,
} satisfies Readonly<Record<string, (account: Account) => string | null>>;

export type ColumnField = keyof typeof COLUMNS;
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[];

/** The amounts of a balance that are summed. */
export const AMOUNT_FIELDS = ['beginOfDay', 'intraDay', 'current'] as const;
export type AmountField = (typeof AMOUNT_FIELDS)[number];

/** Sections of a snapshot. Accounts are in the order of their ids; a position is an index in that order. */
export const SECTIONS = {
  json: 'u8',
  jsonOffsets: 'u32',
  /** Digest of `json`, which stands for the content of all accounts. */
  digest: 'u8',
  search: 'u8',
  searchOffsets: 'u32',
  numbers: 'u8',
  numbersOffsets: 'u32',
  ...named(COLUMN_FIELDS, { Codes: 'u32', Values: 'u8', ValueOffsets: 'u32' }),
  ...named(SORT_FIELDS, { Ascending: 'u32', Descending: 'u32' }),
  entryPositions: 'u32',
  entryCurrencyCodes: 'u32',
  entryCurrencyValues: 'u8',
  entryCurrencyValueOffsets: 'u32',
  entryDates: 'u32',
  dates: 'u8',
  dateOffsets: 'u32',
  dateRanks: 'u32',
  ...named(AMOUNT_FIELDS, {
    Units: 'f64',
    Places: 'u16',
    Long: 'u8',
    LongOffsets: 'u32',
  }),
} as const;

type Kinds = Readonly<Record<string, 'u8' | 'u16' | 'u32' | 'f64'>>;

function named<const N extends string, const K extends Kinds>(names: readonly N[], kinds: K) {
  return Object.fromEntries(
    names.flatMap((name) => Object.entries(kinds).map(([part, kind]) => [`${name}${part}`, kind])),
  ) as { [P in keyof K & string as `${N}${P}`]: K[P] };
}
