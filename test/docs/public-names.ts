import { ALL_CODES } from '../../src/problems/problem-table.js';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';

/** The parts of the OpenAPI document that have names. */
export interface ApiNames {
  readonly paths: Record<string, { readonly get: { readonly parameters?: readonly { readonly name: string }[] } }>;
  readonly components: { readonly schemas: Record<string, { readonly properties?: object }> };
}

/** Names that others build on (CONTRIBUTING.md, Versions): settings, codes, routes, parameters, fields. */
export function publicNames({ paths, components }: ApiNames): string[] {
  const parameters = Object.values(paths).flatMap(({ get }) => (get.parameters ?? []).map(({ name }) => name));
  const fields = Object.values(components.schemas).flatMap(({ properties = {} }) => Object.keys(properties));
  return [...new Set([...KNOWN_NAMES, ...ALL_CODES, ...Object.keys(paths), ...parameters, ...fields])].toSorted();
}
