// A step of npm run check: fails on a test that starts a program by name. test/support/tools.ts returns the path of a
// program only if the test has checked that it is installed, so that `npm test` passes on a machine with only Node.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START = /\b(?:spawn|spawnSync|execFile|execFileSync|execSync|\(execFile\))\(\s*['"`][^'"`]*['"`]/g;
const PATH = /['"`]\/usr\/s?bin\/[^'"`]*['"`]/g;
/** Every Linux and macOS has these, next to npm. */
const EVERYWHERE = /'(npm|sh|tar|chown|mkfifo)'$/;

const files = ['src', 'test', 'client/test']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter(
    (file) =>
      /\.(ts|mjs)$/.test(file) &&
      (file.endsWith('.spec.ts') || file.startsWith('test/') || file.startsWith('client/test/')),
  )
  // the laboratory and test/deployment's checks are not part of npm test, and find their tools themselves
  .filter((file) => !file.startsWith('test/laboratory/') && !/check/.test(file.split('/').at(-1) ?? ''));

const findings = files.flatMap((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const starts = [...text.matchAll(START)].filter(([call]) => !EVERYWHERE.test(call));
  return [...starts, ...text.matchAll(PATH)].map(([found]) => `${file}: ${found}`);
});
for (const finding of findings)
  process.stdout.write(`${finding}: take pathOf(…) of test/support/tools.ts, which asks first\n`);
process.stdout.write(`${files.length} files, ${findings.length} programs started without asking\n`);
if (findings.length > 0) process.exitCode = 1;
