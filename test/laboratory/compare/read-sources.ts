import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Something that others rely on, such as `metric NAME LABEL`, and its type or value. */
export type Fact = readonly [name: string, value: string];

/** Collects the facts in the files of a checkout: settings, events with their fields, commands, documents, examples. */
export function readSources(checkout: string): Fact[] {
  const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const files = ['docs', 'config'].flatMap((folder) =>
    readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  return [
    ...settingsIn(read('docs/settings.md')),
    ...loggedEvents(join(checkout, 'src')),
    ...Object.keys(scripts).map((name): Fact => [`command npm run ${name}`, 'yes']),
    ...files.filter((file) => /\.\w+$/.test(file)).map((file): Fact => [`file ${file}`, 'yes']),
    ...[...read('Dockerfile').matchAll(/^(USER|EXPOSE|ENTRYPOINT|STOPSIGNAL) (.*)/gm)].map(
      ([, name, value = '']): Fact => [`image ${name}`, value],
    ),
  ];
}

/** The settings in the documents: name, default, and accepted values without the example. */
const settingsIn = (text: string): Fact[] =>
  [...text.matchAll(/^\| `([A-Z0-9_]+)`[^|]*\|([^|]*)\|([^|]*)\|/gm)].map(([, name, value = '', allowed = '']) => [
    `setting ${name}`,
    `${value.trim()} (${allowed.trim().replace(/; `[^`]*`$/, '')})`,
  ]);

/** The log objects in the sources that have an event, each with the names of its other fields. */
function loggedEvents(sources: string): Fact[] {
  const facts: Fact[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isObjectLiteralExpression(node)) return;
    const fields = node.properties.filter((each) => each.name !== undefined && ts.isIdentifier(each.name));
    const nameOf = (each: ts.ObjectLiteralElementLike) => (each.name as ts.Identifier).text;
    const event = fields.find((each) => nameOf(each) === 'event');
    if (!event || !ts.isPropertyAssignment(event) || !ts.isStringLiteral(event.initializer)) return;
    const name = `event ${event.initializer.text}`;
    const others = fields.filter((each) => each !== event);
    facts.push([name, 'yes'], ...others.map((each): Fact => [`${name} ${nameOf(each)}`, 'yes']));
  };
  for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || path.endsWith('.spec.ts')) continue;
    visit(ts.createSourceFile(path, readFileSync(join(sources, path), 'utf8'), ts.ScriptTarget.Latest));
  }
  return facts;
}
