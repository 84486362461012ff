import { select } from '../snapshot/select.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { JsonBody } from './encoded-responses.js';
import { toSort, type ListQuery } from './list-query.js';

const COMMA = Buffer.from(',');

/** One page of the list: `{"accounts":[…],"page":{…}`. */
export async function toPageBody(snapshot: Snapshot, query: ListQuery): Promise<JsonBody> {
  const { pageNumber: number, pageSize: size, sort } = query;
  const matches = await select(snapshot, query, toSort(sort));
  const total = matches.length;
  const start = (number - 1) * size;
  const parts: Buffer[] = [Buffer.from('{"accounts":[')];
  let bytes = 0;
  for (const position of matches.subarray(start, start + size)) {
    const account = snapshot.json(position);
    if (bytes > 0) parts.push(COMMA);
    parts.push(account);
    bytes += account.length;
  }
  parts.push(Buffer.from(`],"page":${JSON.stringify({ number, size, total, hasMore: start + size < total })}`));
  return { parts, bytes };
}
