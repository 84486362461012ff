const MAX_NUMBER = 2_147_483_647;

/** PageSize 1–5000, as the real service documents it. */
const MAX_SIZE = 5000;

interface Paging {
  readonly number: number;
  readonly size: number;
}

type PagingResult =
  | { readonly isValid: true; readonly paging: Paging }
  | { readonly isValid: false; readonly errors: Record<string, string[]> };

/** Reads PageNumber (default 1) and PageSize (default 50), in any letter case; other parameters are ignored. */
export function parsePaging(query: URLSearchParams): PagingResult {
  const errors: Record<string, string[]> = {};
  const read = (name: string, fallback: number, most: number): number => {
    const values = [...query].filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
    const [text = String(fallback)] = values;
    const value = /^\d{1,10}$/.test(text) && values.length <= 1 ? Number(text) : NaN;
    if (Number.isNaN(value)) errors[name] = [`The value '${values.join(',')}' is not valid for ${name}.`];
    else if (value < 1 || value > most) errors[name] = [`The field ${name} must be between 1 and ${most}.`];
    return value;
  };
  const paging = { number: read('PageNumber', 1, MAX_NUMBER), size: read('PageSize', 50, MAX_SIZE) };
  return Object.keys(errors).length > 0 ? { isValid: false, errors } : { isValid: true, paging };
}
