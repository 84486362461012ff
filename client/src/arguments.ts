/** Maximum duration of a timer, ms. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;
/** Names that the gateway may count separately, instead of as `other`. */
const CLIENT_NAME = /^(?!other$)(?!(.*\d){5})[\w.-]{1,40}$/;

/** @throws TypeError that names the argument, if it is invalid */
function assert(isRight: boolean, argument: string, rule: string, value: unknown): asserts isRight {
  if (!isRight) throw new TypeError(`${argument} must ${rule}: ${value}`);
}

/** A number of ms that a timer supports. */
export const assertDeadline = (deadlineMs: number): void =>
  assert(
    Number.isInteger(deadlineMs) && deadlineMs >= 0 && deadlineMs <= MAX_DEADLINE_MS,
    'deadlineMs',
    'be an integer from 0 to 2 ** 31 - 1',
    deadlineMs,
  );

/** A function; undefined if it is optional. */
export const assertFunction = (argument: string, value: unknown, isOptional = true): void =>
  assert(typeof value === 'function' || (isOptional && value === undefined), argument, 'be a function', typeof value);

/** A name that the gateway displays. */
export const assertClientName = (clientName: string | undefined): void =>
  assert(
    clientName === undefined || (typeof clientName === 'string' && CLIENT_NAME.test(clientName)),
    'clientName',
    'be 1 to 40 of A-Z a-z 0-9 . _ -, at most 4 digits, not "other"',
    clientName,
  );

/** An object of strings and numbers; not an array, a string or a URLSearchParams. */
export function assertQuery(query: object): void {
  assert(typeof query === 'object' && query !== null && !(Symbol.iterator in query), 'query', 'be an object', query);
  for (const [name, value] of Object.entries(query)) {
    // null and undefined are omitted, as is ''
    assert(/string|number/.test(typeof (value ?? '')), `query.${name}`, 'be a string or a number', value);
  }
}

/** An id; '' and dots would change the path. */
export const assertId = (id: string): void =>
  assert(typeof id === 'string' && !/^\.{0,2}$/.test(id), 'id', 'be an id', id);

/** The address of a gateway without a trailing slash; null for '', the page's own origin. @throws TypeError */
export function toRoot(baseUrl: string): string | null {
  if (baseUrl === '') return null;
  assert(/^https?:/i.test(baseUrl) && URL.canParse(baseUrl), 'baseUrl', "be an http(s) URL or ''", baseUrl);
  const { origin, pathname, username, password, search, hash } = new URL(baseUrl);
  assert(!(username || password || search || hash), 'baseUrl', 'end with its path and name no user', origin);
  assert(!/\/api\/v1\/*$/.test(pathname), 'baseUrl', 'end before /api/v1', baseUrl);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}
