import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './closing.js';
import { get } from './call.js';
import type { BankAddress } from './bank-address.js';
import { programEnvironment, startProgram, type Program } from './program.js';

/** Reports loaded files and outgoing connections on standard error. */
const WATCH = `
import { registerHooks } from 'node:module';
import { Socket } from 'node:net';
registerHooks({
  load(url, context, next) {
    process.stderr.write('loaded ' + url + '\\n');
    return next(url, context);
  },
});
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const [options] = args.flat();
  process.stderr.write('connects to ' + (options?.port ?? options) + '\\n');
  return connect.apply(this, args);
};
`;

export interface WatchedProgram {
  readonly program: Program;
  readonly url: string;
  /** The distinct first groups of `pattern` in the paths of files loaded so far. */
  loaded(pattern: RegExp): string[];
  /** The distinct ports that the program has connected to so far. */
  connectedTo(): string[];
}

/** The program, watched from its start. Resolves after its first response for accounts. */
export async function startWatched(
  bank: BankAddress,
  env: Record<string, string> = {},
  envFile = '',
): Promise<WatchedProgram> {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'watch.mjs'), WATCH);
  writeFileSync(join(cwd, '.env'), envFile, { mode: 0o600 });
  const nodeFlags = ['--import', join(cwd, 'watch.mjs')];
  const program = await startProgram({ cwd, env: programEnvironment(bank, env), nodeFlags });
  const url = await program.started();
  const { status } = await get(`${url}/api/v1/accounts`);
  if (status !== 200) throw new Error(`the watched program answers ${status}`);
  const found = (pattern: RegExp) => [...new Set([...program.stderr().matchAll(pattern)].map(([, what = '']) => what))];
  return {
    program,
    url,
    loaded: (pattern) => found(new RegExp(`^loaded \\S*${pattern.source}`, 'gm')),
    connectedTo: () => found(/^connects to (\S+)$/gm),
  };
}
