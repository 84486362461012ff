// A step of npm run check: prints lines of code against their budgets, and fails above one. To add a line here, first
// look for one to take out: CONTRIBUTING.md#commits. --folders divides the second number by folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Everything that each owner must know (docs/architecture.md). */
const CORE = /^src\/(?:accounts|cache|snapshot|list|bank|auth|egress|http|errors|time)\//;
const SPEC = /\.spec\.tsx?$/;
/** Read only by those who change them. */
const APART = /^src\/(?:sandbox|pages\/console\/web)\//;

/** Maximum lines. The limits in one place: lower them as the code shrinks, and never raise one without a reason. */
const BUDGETS = {
  'core, without specs': 8200,
  'src, without specs, sandbox and page': 16_330,
  'specs and tests, without the laboratory': 28_000,
} as const;

const files = ['src', 'test']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      `${folder}/${file}`.replaceAll('\\', '/'),
    ),
  )
  .filter((file) => /\.(?:ts|tsx|css|html|js|mjs)$/.test(file))
  .map((file) => ({ file, lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1 }));

const isTest = (file: string): boolean => SPEC.test(file) || file.startsWith('test/');
const isSource = (file: string): boolean => !isTest(file) && !APART.test(file);
const sum = (isCounted: (file: string) => boolean): number =>
  files.reduce((total, { file, lines }) => (isCounted(file) ? total + lines : total), 0);

const counted = {
  'core, without specs': sum((file) => isSource(file) && CORE.test(file)),
  'src, without specs, sandbox and page': sum(isSource),
  'specs and tests, without the laboratory': sum((file) => isTest(file) && !file.startsWith('test/laboratory/')),
} satisfies Record<keyof typeof BUDGETS, number>;

for (const [name, budget] of Object.entries(BUDGETS)) {
  const lines = counted[name as keyof typeof BUDGETS];
  const over = lines - budget;
  process.stdout.write(`${lines} of ${budget} lines: ${name}${over > 0 ? `, ${over} too many` : ''}\n`);
  if (over > 0) process.exitCode = 1;
}
if (process.argv.includes('--folders')) {
  for (const folder of new Set(
    files.filter(({ file }) => isSource(file)).map(({ file }) => file.split('/')[1] ?? ''),
  )) {
    const lines = sum((file) => isSource(file) && file.split('/')[1] === folder);
    process.stdout.write(`${String(lines).padStart(6)} ${folder}\n`);
  }
}
