import { parseArgs } from 'node:util';
import { VERSION } from '../config/version.js';
import { EXIT } from './exit.js';

const HELP = `accounts-gateway ${VERSION}

  node dist/main.js [serve] [--sandbox] [--fresh]   serve the internal API; with --sandbox against the sandbox bank
  node dist/main.js doctor [--json] [--offline]     find out why the bank cannot be reached, and who must act
  node dist/main.js sandbox [--fresh]               run the sandbox bank alone; --fresh makes new certificates
  node dist/main.js sandbox --renew                 write a new client certificate by the same CA, and exit
  node dist/main.js --help | --version

Settings come from the environment and .env; docs/settings.md lists them. Exit codes of serve: 0 stopped, 1 a fault of its own
or a port that is taken, 2 settings, 3 the PFX; of doctor: 0 all is well, 1 a fault of its own, else the step that failed:
2 settings, 3 certificate, 4 dns, 5 route, 6 tls, 7 token, 8 accounts, 9 shape, 10 sharing.
`;

/** Reads the command line and runs what it says; gives the exit code. */
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
    process.stdout.write(`${VERSION}\n`);
    return EXIT.stopped;
  }
  if (rest.length > 0) return usage(`too many arguments: ${rest.join(' ')}`);
  // each is loaded when it is asked for: the doctor must work when the gateway does not
  switch (command) {
    case 'serve':
      return (await import('./serve.js')).serve(process, values);
    case 'doctor':
      // npm keeps what stands before its `--`; it may also be set to work offline itself, which is no matter of the doctor's
      if (!values.offline && process.env['npm_config_offline'] === 'true') {
        process.stderr.write(
          'accounts-gateway: npm took --offline for itself; to ask nobody: npm run doctor -- --offline\n',
        );
      }
      return (await import('./doctor.js')).doctor(process, values);
    case 'sandbox':
      return (await import('./run-sandbox.js')).runSandbox(process, values);
    default:
      return usage(`there is no command "${command}"`);
  }
}
