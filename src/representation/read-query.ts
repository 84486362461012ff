import { parse, type ParsedUrlQuery } from 'node:querystring';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.js';

/** More than any route defines, so the schema still sees at least one unknown or repeated parameter. */
const MAX_PARAMETERS = 100;
const MAX_REMEMBERED = 500;
/** Longer query strings are parsed each time. */
const MAX_REMEMBERED_LENGTH = 500;
const SHOWN_LENGTH = 60;

type QueryRequest = Pick<FastifyRequest, 'query' | 'originalUrl'>;

/** For the router. */
export function parseQuery(query: string): ParsedUrlQuery {
  // the limit also counts empty parameters (&&), which would hide the ones after them
  const text = query.includes('&&') ? query.replaceAll(/&+/g, '&') : query;
  return parse(text, '&', '=', { maxKeys: MAX_PARAMETERS });
}

/** Valid queries by schema and query string, because most callers repeat theirs. */
const remembered = new WeakMap<z.ZodType, LRUCache<string, object>>();

/** @throws GatewayError invalid-request, naming each wrong parameter */
export function readQuery<T extends z.ZodType<object>>(request: QueryRequest, schema: T): Readonly<z.output<T>> {
  const known = remembered.get(schema) ?? new LRUCache({ max: MAX_REMEMBERED });
  remembered.set(schema, known);
  const { originalUrl } = request;
  const text = originalUrl.slice(toPath(originalUrl).length);
  const found = known.get(text) as z.output<T> | undefined;
  if (found) return found;
  const read = Object.freeze(readInput(request.query, schema));
  if (text.length <= MAX_REMEMBERED_LENGTH) known.set(text, read);
  return read;
}

/** @throws GatewayError invalid-request */
export function readInput<T extends z.ZodType>(input: unknown, schema: T): z.output<T> {
  const { success, data, error } = schema.safeParse(input);
  if (success) return data;
  throw toInvalidRequest(error.issues);
}

/** The path of a URL, unchanged. */
export function toPath(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function toInvalidRequest(issues: readonly z.core.$ZodIssue[]): GatewayError {
  const errors = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => ({ name: toShown(name), reason: 'is not a parameter of this route (see /docs)' }))
      : [{ name: toShown(issue.path.map(String).join('.')), reason: issue.message }],
  );
  const detail = errors.map(({ name, reason }) => `${name} ${reason}`).join('; ');
  return new GatewayError('invalid-request', `${detail}.`, { errors });
}

const toShown = (name: string) => (name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name);
