import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Maximum size of an identity file, bytes. The files are far smaller. */
const MAX_BYTES = 1_048_576;

const NAMES = {
  ca: 'ca.pem',
  caKey: 'ca-key.pem',
  serverKey: 'server-key.pem',
  pfx: 'client.pfx',
  passcode: 'passcode',
  username: 'username',
  password: 'password',
  clientRoots: 'client-ca.pem',
} as const;

type Part = keyof typeof NAMES;

/** The content of the files, as strings (the PFX as bytes). */
export type IdentityContent = { readonly [P in Exclude<Part, 'clientRoots'>]: P extends 'pfx' ? Buffer : string } & {
  /** Client roots in addition to `ca`, PEM, concatenated. */
  readonly clientRoots?: string;
};

/** The files of a client: absolute paths. */
export interface SandboxFiles {
  readonly ca: string;
  readonly pfx: string;
  readonly passcode: string;
  readonly username: string;
  readonly password: string;
}

/** Absolute paths of the client's five files. */
export function toSandboxFiles(directory: string): SandboxFiles {
  const at = (part: Part): string => join(resolve(directory), NAMES[part]);
  return {
    ca: at('ca'),
    pfx: at('pfx'),
    passcode: at('passcode'),
    username: at('username'),
    password: at('password'),
  };
}

/**
 * Reads the files. Omits one that is missing, unreadable, too large or not a regular file. Drops one trailing line
 * break from a text.
 */
export async function readIdentityFiles(directory: string): Promise<Partial<IdentityContent>> {
  const parts = Object.keys(NAMES) as Part[];
  const read = await Promise.all(
    parts.map(async (part) => {
      const content = await readSmallFile(join(directory, NAMES[part])).catch(() => null);
      if (content === null) return [];
      return [[part, part === 'pfx' ? content : content.toString('utf8').replace(/\r?\n$/, '')] as const];
    }),
  );
  return Object.fromEntries(read.flat()) as Partial<IdentityContent>;
}

/**
 * The bytes of a regular file of at most MAX_BYTES, else null. Opened without blocking, because a FIFO may block
 * forever.
 */
async function readSmallFile(path: string): Promise<Buffer | null> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await file.stat();
  return stat.isFile() && stat.size <= MAX_BYTES ? await file.readFile() : null;
}

/**
 * Writes the given parts. Each file appears as a whole (temporary file, then rename), and all at nearly the same
 * moment, so that a gateway in another process never reads half a file.
 */
export async function writeIdentityFiles(directory: string, parts: Partial<IdentityContent>): Promise<void> {
  await prepareIdentityDirectory(directory);
  const files: [string, string | Buffer][] = [['.gitignore', '*\n']];
  for (const [part, content] of Object.entries(parts)) files.push([NAMES[part as Part], content]);
  const moves = files.map(([name, content]) => ({
    to: join(directory, name),
    from: join(directory, `.${name}.${randomBytes(6).toString('hex')}`),
    content,
  }));
  try {
    for (const { from, content } of moves) await writeFile(from, content, { mode: 0o600, flag: 'wx', flush: true });
    for (const { from, to } of moves) await rename(from, to);
  } finally {
    await Promise.all(moves.map(({ from }) => rm(from, { force: true })));
  }
}

/** Creates the directory if it is missing, and denies access to other users (mode 700). */
export async function prepareIdentityDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}
