import type { Selection } from './account-list.js';
import type { CsvDialect } from './csv.js';
import type { Filters } from './match.js';

/** The property `snapshot` of a response: which refresh its data are from. */
export interface SnapshotFacts {
  /** When the bank was asked, ISO 8601. */
  readonly asOf: string;
  /** When the data stop being served, ISO 8601. */
  readonly expiresAt: string;
  readonly stale: boolean;
  readonly complete: boolean | null;
}

/** A question to a list that is answered with a JSON document. */
export type Question =
  | { readonly kind: 'accounts'; readonly selection: Selection; readonly number: number; readonly size: number }
  | { readonly kind: 'account'; readonly id: string }
  | { readonly kind: 'totals'; readonly filters: Filters };

/** Every match as a file. */
export type Export =
  | { readonly kind: 'csv'; readonly selection: Selection; readonly dialect: CsvDialect }
  | { readonly kind: 'ndjson'; readonly selection: Selection };

/** The answer to a question, as the bytes that are sent. */
export interface Answer {
  /** Digest of the data, of `stale` and of `complete`: equal for equal data, whichever refresh and instance they came from. */
  readonly digest: string;
  /** UTF-8. Null for a document of more than 4 MB, which is read in pieces instead. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}
