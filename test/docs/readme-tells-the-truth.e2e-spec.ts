import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEM_CODES, PROBLEMS } from '../../src/problems/problem-table.js';
import type { Environment } from '../../src/config/environment.js';
import { readSettings, SettingsInvalid } from '../../src/config/read-settings.js';
import { KNOWN_NAMES, VARIABLE_NAMES, VARIABLES, type VariableName } from '../../src/config/variables.js';
import { cleanUp, start } from '../support/sandbox.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What a reader sees: a comment, such as one on what is still to come, promises nothing. */
const readme = read('README.md').replace(/<!--[\s\S]*?-->/g, '');
const manifest = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

type Row = readonly string[];

/** The rows of all tables whose header begins with these cells. */
function rowsUnder(...header: string[]): Row[] {
  const tables = readme.match(/(?:^\|.*\|\n)+/gm) ?? [];
  const found = tables.map((table) =>
    table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  );
  const rows = found.filter(([first]) => header.every((cell, index) => first?.[index] === cell));
  expect(rows).not.toHaveLength(0);
  return rows.flatMap(([, , ...rest]) => rest);
}

/** Everything in a cell that stands between backticks. */
const coded = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');

/** The value of a cell that is nothing but a value, else undefined. */
const valueOf = (cell: string | undefined): string | undefined => /^`([^`]+)`$/.exec(cell ?? '')?.[1];

describe('the settings in the README', () => {
  const rows = rowsUnder('variable', 'default', 'allowed');
  const nameOf = (row: Row) => valueOf(row[0]) as VariableName;
  const defaults = Object.fromEntries(
    rows.flatMap((row) => (valueOf(row[1]) === undefined ? [] : [[nameOf(row), valueOf(row[1])]])),
  ) as Record<string, string>;

  it('are exactly those that the program knows, each once', () => {
    expect(rows.map(nameOf).toSorted()).toEqual([...VARIABLE_NAMES].toSorted());
  });

  it('have the defaults that the program has', () => {
    expect(readSettings(defaults, { sandbox: true })).toEqual(readSettings({}, { sandbox: true }));
  });

  it('have the ranges that the program has, and every number has one', () => {
    for (const row of rows) {
      const name = nameOf(row);
      const takes = (text: string) => VARIABLES[name].schema.safeParse(text).success;
      const [, min, max] = /^(\d+)–(\d+)$/.exec(row[2] ?? '') ?? [];
      const accepted = [
        min,
        max,
        '12345678901234567890',
        min && String(BigInt(min) - 1n),
        max && String(BigInt(max) + 1n),
      ];
      const isNumber = ['1', '1024'].some(takes) && !takes('abc');
      expect({
        name,
        isNumber,
        accepted: isNumber && accepted.map((text) => text !== undefined && takes(text)),
      }).toEqual({
        name,
        isNumber: min !== undefined,
        accepted: min !== undefined && [true, true, false, false, false],
      });
    }
  });

  it('have the words that are allowed for the log level', () => {
    const words = rows.find((row) => nameOf(row) === 'LOG_LEVEL')?.[2]?.split(', ') ?? [];
    expect(words).toEqual(VARIABLES.LOG_LEVEL.schema.options);
  });

  it('name the secrets that may be given as files', () => {
    const [, sentence] = /The secrets (.+?) may each be\s+given as a file/s.exec(readme) ?? [];
    expect(coded(sentence).toSorted()).toEqual(VARIABLE_NAMES.filter((name) => VARIABLES[name].secret).toSorted());
  });

  describe.each(['config/sandbox.env.example', 'config/bank.env.example'])('and %s', (path) => {
    const lines = [...read(path).matchAll(/^(#?)([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, mark, name = '', value = '']) => ({
      active: mark === '',
      name,
      value: value.replace(/^'(.*)'$/, '$1'),
    }));

    it('name no setting that the program does not know', () => {
      expect(lines.filter(({ name }) => !KNOWN_NAMES.includes(name))).toEqual([]);
    });

    it('show the same defaults, and examples that are allowed', () => {
      for (const { name, value } of lines) {
        if (name in defaults) expect({ name, value }).toEqual({ name, value: defaults[name] });
        const known = VARIABLE_NAMES.find((each) => each === name);
        if (known && value !== '') {
          expect({ name, allowed: VARIABLES[known].schema.safeParse(value).success }).toEqual({ name, allowed: true });
        }
      }
    });

    it('lack nothing once the files they name are there', () => {
      const env = Object.fromEntries(lines.flatMap(({ active, name, value }) => (active ? [[name, value]] : [])));
      expect(faultsOf(env, path.includes('sandbox')).filter((problem) => !problem.includes('does not exist'))).toEqual(
        [],
      );
    });
  });

  it('are all in one of the two examples', () => {
    const examples = read('config/sandbox.env.example') + read('config/bank.env.example');
    expect(VARIABLE_NAMES.filter((name) => !new RegExp(`^#?${name}=`, 'm').test(examples))).toEqual([]);
  });

  function faultsOf(env: Environment, sandbox: boolean): string[] {
    try {
      readSettings(env, { sandbox });
      return [];
    } catch (error) {
      if (error instanceof SettingsInvalid)
        return error.faults.map(({ variable, problem }) => `${variable} ${problem}`);
      throw error;
    }
  }
});

describe('the errors in the README', () => {
  it('are those of the table, with status and owner', () => {
    const told = rowsUnder('code', 'status', 'who must act').map(([code, status, owner]) => ({
      code: valueOf(code),
      status: parseInt(status ?? '', 10),
      owner: /^[a-z]+/.exec(owner ?? '')?.[0],
    }));
    expect(told).toEqual(
      PROBLEM_CODES.map((code) => ({ code, status: PROBLEMS[code].status, owner: PROBLEMS[code].owner })),
    );
  });
});

describe('the events in the README', () => {
  it('are those that the program logs', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !/\.(spec|test-support)\.ts$/.test(path),
    );
    const logged = sources.flatMap((path) =>
      [...read(join('src', path)).matchAll(/\bevent: '([a-z.-]+)'/g)].map(([, event]) => event ?? ''),
    );
    const told = rowsUnder('event', 'level').flatMap(([event]) => coded(event));
    expect(told.toSorted()).toEqual([...new Set(logged)].toSorted());
  });
});

describe('the commands in the README', () => {
  it('exist, and every script is told of', () => {
    const named = [...readme.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short ?? '',
    );
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(manifest.scripts).toSorted());
  });
});

describe('the dependencies in the README', () => {
  it('are those of package.json, each with a reason', () => {
    const rows = rowsUnder('package');
    const { dependencies, devDependencies } = manifest;
    expect(rows.map(([name]) => valueOf(name)).toSorted()).toEqual(
      [...Object.keys(dependencies), ...Object.keys(devDependencies)].toSorted(),
    );
    expect(rows.filter(([, reason]) => !reason)).toEqual([]);
  });
});

describe('the places in the README', () => {
  const places = rowsUnder('place').flatMap(([place]) => coded(place));

  it('exist', () => {
    expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([]);
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, path]) => path ?? '');
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('leave out nothing that lies directly in src', () => {
    const entries = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter(({ name }) => !name.includes('.spec.'))
      .map((entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`);
    expect(entries.filter((entry) => !places.includes(entry))).toEqual([]);
  });
});

describe('the HTTP part of the README', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(await start());
  });
  afterAll(async () => {
    await closeGateways();
    await cleanUp();
  });

  it('has every path, and every parameter, of the OpenAPI document', async () => {
    const { paths } = (await gateway.get('/openapi.json')).json as {
      paths: Record<string, { get: { parameters?: { name: string; in: string }[] } }>;
    };
    const told = new Set(rowsUnder('path', 'answer').flatMap(([path]) => coded(path)));
    expect(Object.keys(paths).filter((path) => !told.has(path))).toEqual([]);
    const parameters = Object.values(paths).flatMap(({ get }) => get.parameters ?? []);
    expect(parameters.map(({ name }) => name)).toContain('accountId');
    const unknown = parameters.filter((each) => each.in === 'query' && !readme.includes(`\`${each.name}\``));
    expect(unknown).toEqual([]);
  });

  it('has only paths that are served', async () => {
    const { json } = await gateway.get('/api/v1/accounts');
    const told = rowsUnder('path', 'answer').flatMap(([path]) => coded(path));
    const paths = told.map((path) =>
      path.replace('{accountId}', json.accounts[0].id as string).replace('{code}', 'bank-timeout'),
    );
    for (const path of paths.filter((each) => each.startsWith('/'))) {
      const { status } = await gateway.get(path);
      expect({ path, served: status === 200 || status === 302 }).toEqual({ path, served: true });
    }
  });

  it('shows the answer that its command gets, but for the times', async () => {
    const [, path = '', text = ''] =
      /curl 'http:\/\/localhost:3000([^']+)'\n```\n\n```json\n([\s\S]+?)```/.exec(readme) ?? [];
    const answer = (await gateway.get(path)).text;
    expect(withoutTimes(text)).toEqual(withoutTimes(answer));
  });

  function withoutTimes(text: string): unknown {
    return JSON.parse(text, (name, value: unknown) =>
      ['financialDate', 'lastTransactionAt', 'asOf'].includes(name) ? typeof value : value,
    );
  }
});
