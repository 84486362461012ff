import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './closing.js';
import { get, type BankAddress } from './gateway.js';
import { programEnvironment, startProgram, type Program } from './program.js';

/** Reports on standard error which files are loaded, and whom the program connects to. */
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
  /** What the first group of `pattern` is in the addresses of the files loaded so far, each once. */
  loaded(pattern: RegExp): string[];
  /** Ports that were connected to so far, each once. */
  connectedTo(): string[];
}

/** The program, watched from its start, once it has answered a call for accounts. */
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
