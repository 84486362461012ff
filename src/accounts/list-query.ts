import { z } from 'zod';
import { foldText } from '../list/search-texts.js';
import { FILTERS, type FilterName } from '../list/match.js';
import type { Export, Query } from '../list/queries.js';
import { SORT_FIELDS, type Sort } from '../list/sort.js';
import { requireType } from '../representation/negotiation.js';

const error = (issue: { readonly input?: unknown }) =>
  Array.isArray(issue.input) ? 'is given more than once' : 'must be a string';

/** A number from 1. The OpenAPI document shows an integer, although it is text in a URL. */
const wholeNumber = (preset: number, description: string, maximum?: number) => {
  const max = maximum ?? Number.MAX_SAFE_INTEGER;
  return z
    .string({ error })
    .regex(/^[1-9]\d{0,15}$/, `must be a whole number from 1 to ${max}`)
    .transform(Number)
    .pipe(z.number().max(max, `must be at most ${max}`))
    .default(preset)
    .describe(description)
    .meta({ type: 'integer', minimum: 1, maximum, pattern: undefined, example: preset });
};

/** Control characters, and U+FFFD, which replaces invalid UTF-8; in syntax that every engine accepts. */
const UNFIT = '\\u0000-\\u001F\\u007F-\\u009F\\uFFFD';
const FIT = new RegExp(`^[^${UNFIT}]*$`);

const toParameter = ({ maxLength, fold, description }: (typeof FILTERS)[FilterName]) =>
  z
    .string({ error })
    .refine((value) => value !== '' && [...value].length <= maxLength, `must have 1 to ${maxLength} characters`)
    .refine((value) => FIT.test(value), 'must be valid UTF-8 without control characters')
    .refine(
      (value) => value === '' || (foldText(value) !== '' && fold(value) !== ''),
      'must contain something that this filter compares',
    )
    .transform(fold)
    .meta({ minLength: 1, maxLength, pattern: `^[^${UNFIT}]*[^${UNFIT}\\s][^${UNFIT}]*$` })
    .optional()
    .describe(description);

const oneOf = <const T extends string>(values: readonly [T, ...T[]]) =>
  z.enum(values, {
    error: (issue) => (Array.isArray(issue.input) ? 'is given more than once' : `must be one of ${values.join(', ')}`),
  });

export const MEDIA_TYPES = { json: 'application/json', csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

const FORMATS = ['json', 'csv', 'ndjson'] as const;

/** Chooses the list's format by Accept: JSON if there is no preference. @throws GatewayError not-acceptable */
export function chooseFormat(accept?: string): keyof typeof MEDIA_TYPES {
  const type = requireType([MEDIA_TYPES.json, MEDIA_TYPES.csv, MEDIA_TYPES.ndjson], accept);
  return FORMATS.find((format) => MEDIA_TYPES[format] === type) ?? 'json';
}

const SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const) as [Sort, ...Sort[]];

const filters = Object.fromEntries(
  Object.entries(FILTERS).map(([name, filter]) => [name, toParameter(filter)]),
) as Readonly<Record<FilterName, ReturnType<typeof toParameter>>>;

const parameters = {
  ...filters,
  sort: oneOf(SORTS)
    .default('name')
    .describe(
      '`-` in front for descending; numbers in names count as numbers; nulls last in both directions, ties by id',
    ),
  pageNumber: wholeNumber(1, 'page of the list; one past the end is empty, with status 200'),
  pageSize: wholeNumber(50, 'accounts on a page', 1000),
  separator: oneOf(['comma', 'semicolon', 'tab']).default('comma').describe('column separator of a CSV'),
  decimal: oneOf(['point', 'comma']).default('point').describe('decimal separator of a CSV'),
  format: oneOf(FORMATS).optional().describe('overrides `Accept`; csv and ndjson return every match, not one page'),
};

/** The query of /api/v1/accounts, as a list query for each format. */
export const listQuerySchema = withAnyCase(parameters).transform(
  ({ format, sort, pageNumber, pageSize, separator, decimal, ...filters }) => {
    const selection = { filters, sort };
    const json: Query = { kind: 'accounts', selection, number: pageNumber, size: pageSize };
    const csv: Export = { kind: 'csv', selection, dialect: { separator, decimal } };
    const ndjson: Export = { kind: 'ndjson', selection };
    return { format, json, csv, ndjson };
  },
);

/** The query of /api/v1/balances. */
export const filtersSchema = withAnyCase(filters);

/** The query of routes without parameters: rejects every parameter by name. */
export const noQuerySchema = z.strictObject({});

function withAnyCase<T extends z.ZodRawShape>(shape: T) {
  return z.preprocess((query) => withNamesOf(Object.keys(shape), query), z.strictObject(shape));
}

/** The query with known names in our spelling; two spellings of one name count as a repeated parameter. */
function withNamesOf(names: readonly string[], query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query;
  // no prototype, and keys as received: `__proto__` is a name like any other
  const found = Object.create(null) as Record<string, unknown>;
  for (const [given, value] of Object.entries(query)) {
    const name = names.find((known) => known.toLowerCase() === given.toLowerCase()) ?? given;
    found[name] = Object.hasOwn(found, name) ? [found[name], value].flat() : value;
  }
  return found;
}
