import { parseArgs } from 'node:util';
import { COMMIT, VERSION } from '../config/version.js';
import { EXIT } from './exit.js';

const BUILD = COMMIT === null ? VERSION : `${VERSION} (${COMMIT})`;

const HELP = `accounts-gateway ${BUILD}

  node dist/main.js [serve] [--sandbox] [--fresh]   serve the internal API; with --sandbox, against the sandbox bank
  node dist/main.js doctor [--json] [--offline]     find out why the bank is unreachable, and who must act
  node dist/main.js sandbox [--fresh]               run the sandbox bank alone
  node dist/main.js sandbox --renew                 write a new client certificate by the same CA, and exit
  node dist/main.js --help | --version

  --fresh     renew all certificates and credentials of the sandbox bank
  --json      print the report as one JSON object
  --offline   check settings and certificate only

Settings come from the environment and from .env; docs/settings.md lists them.
Exit codes of serve: 0 stopped, 1 internal error or port taken, 2 settings, 3 client certificate.
Exit codes of doctor: 0 no problem, 1 internal error, or the step that failed: 2 settings, 3 certificate, 4 dns, 5 route,
6 tls, 7 token, 8 accounts, 9 shape, 10 sharing.
`;

/** The options of each command. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  serve: ['sandbox', 'fresh'],
  doctor: ['sandbox', 'json', 'offline'],
  sandbox: ['fresh', 'renew'],
};

/** Runs what the command line asks for; returns the exit code. */
export async function runCommandLine(process: NodeJS.Process): Promise<number> {
  const usage = (problem: string) => {
    process.stderr.write(`accounts-gateway: ${problem}\n\n${HELP}`);
    return EXIT.settings;
  };
  let parsed;
  try {
    parsed = parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        sandbox: { type: 'boolean', default: false },
        fresh: { type: 'boolean', default: false },
        renew: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        offline: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    // it goes on to explain how to give an argument that begins with a dash
    return usage((error as Error).message.replace(/\. To specify .*$/s, ''));
  }
  const { values, positionals } = parsed;
  const [command = 'serve', ...rest] = positionals;
  if (values.help) {
    process.stdout.write(HELP);
    return EXIT.stopped;
  }
  if (values.version) {
    process.stdout.write(`${BUILD}\n`);
    return EXIT.stopped;
  }
  if (rest.length > 0) return usage(`too many arguments: ${rest.join(' ')}`);
  const foreign = Object.entries(values).find(([name, given]) => given && !OPTIONS[command]?.includes(name));
  if (foreign && OPTIONS[command]) return usage(`${command} does not take --${foreign[0]}`);
  // each is loaded when it is asked for: the doctor must work when the gateway does not
  switch (command) {
    case 'serve':
      return (await import('./serve.js')).serve(process, values);
    case 'doctor':
      // npm takes what is before its `--`; it may also be set to work offline itself, which does not concern the doctor
      if (!values.offline && process.env['npm_config_offline'] === 'true') {
        process.stderr.write(
          'accounts-gateway: npm took --offline for itself. To pass it to the doctor: npm run doctor -- --offline\n',
        );
      }
      return (await import('./doctor.js')).doctor(process, values);
    case 'sandbox':
      return (await import('./run-sandbox.js')).runSandbox(process, values);
    default:
      return usage(`unknown command "${command}"`);
  }
}
