import { z } from 'zod';

const wholeNumber = (min: number, max: number) =>
  z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'is given more than once' : 'must be a text') })
    .regex(/^[1-9]\d{0,14}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min).max(max, `must be at most ${max}`));

const parameters = {
  pageNumber: wholeNumber(1, Number.MAX_SAFE_INTEGER)
    .default(1)
    .describe('page of the list, from 1; past the end is empty'),
  pageSize: wholeNumber(1, 1000).default(50).describe('accounts on a page, 1 to 1000'),
};

/** The query of /api/v1/accounts. Names match in any letter case, so the bank's PageNumber and PageSize work. */
export const listQuerySchema = z.preprocess(
  (query) => withNamesOf(Object.keys(parameters), query),
  z.strictObject(parameters),
);

export type ListQuery = z.output<typeof listQuerySchema>;

/** For routes that take no parameters: all are refused, by name. */
export const noQuerySchema = z.strictObject({});

/** The query with its known names as we write them; two spellings of one name are one parameter given twice. */
function withNamesOf(names: readonly string[], query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query;
  const found: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(query)) {
    const name = names.find((known) => known.toLowerCase() === given.toLowerCase()) ?? given;
    found[name] = Object.hasOwn(found, name) ? [found[name], value].flat() : value;
  }
  return found;
}
