import { readBankAccount } from './account-fields.js';
import { KeyTree, type Drift } from './key-tree.js';
import { readPage } from './read-page.js';

interface Shape {
  /** Where the accounts stand in the document: `result[]`, or `[]` for a bare array. */
  readonly list: string;
  readonly rowCountGiven: boolean;
  readonly pageSizeEchoed: boolean;
  /** What is not known, as it is logged while serving; at most 100. */
  readonly drift: readonly Drift[];
  /** The paths of known fields that no account of the page has. */
  readonly missingFields: readonly string[];
}

/**
 * How the text of a page of the bank's compares with what we know of it (docs/bank.md#fields-of-an-account); names and
 * types only, never a value but of an enumeration.
 * @throws GatewayError bank-response-invalid when the page or an account cannot be read
 */
export function describeShape(text: string): Shape {
  const page = readPage(Buffer.from(text), 1);
  page.rows.forEach((row, index) => readBankAccount(row, `${page.path}[${index}]`));
  const keys = new KeyTree();
  keys.learn(JSON.parse(text), page.list, true);
  return {
    list: `${page.path}[]`,
    rowCountGiven: page.rowCount !== null,
    pageSizeEchoed: page.echoedSize !== null,
    drift: keys.found,
    missingFields: keys.missing(),
  };
}
