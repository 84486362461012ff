import { join } from 'node:path';
import ts from 'typescript';
import type { Fact } from './read-sources.js';

const OPTIONS = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2024,
  types: [],
  strict: true,
  noEmit: true,
};

/** All exports of the client, with the members of their types, including those generated from `/openapi.json`. */
export function readClient(checkout: string): Fact[] {
  const index = join(checkout, 'client/src/index.ts');
  const program = ts.createProgram([index], OPTIONS);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(index);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${index} exports nothing`);
  const toText = (type: ts.Type) => checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  return checker.getExportsOfModule(module).flatMap((given): Fact[] => {
    const symbol = given.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(given) : given;
    const name = `client ${given.name}`;
    if (!(symbol.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Class))) {
      return [[name, toText(checker.getTypeOfSymbol(symbol))]];
    }
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && !checker.isArrayType(type);
    if (!isObject) return [[name, toText(type)]];
    const members = checker.getPropertiesOfType(type).map((member): Fact => {
      const optional = member.flags & ts.SymbolFlags.Optional ? '?' : '';
      return [`${name}.${member.name}`, toText(checker.getTypeOfSymbol(member)) + optional];
    });
    return [[name, 'type'], ...members];
  });
}
