import { COMMIT, VERSION } from '../config/build-output.js';
import { EXIT } from './exit.js';
import { parseOptions } from './options.js';

const BUILD = COMMIT === null ? VERSION : `${VERSION} (${COMMIT})`;

const HELP = `accounts-gateway ${BUILD}

  node dist/main.js [serve] [--sandbox] [--fresh]   serve the internal API; with --sandbox, against the sandbox bank
  node dist/main.js doctor [--json] [--offline]     find out why the bank is unreachable, and who must act;
                           [--sandbox]              with --sandbox, check the sandbox bank
  node dist/main.js doctor --record FILE            record what the bank sends, masked
  node dist/main.js doctor --compare FILE           list what differs in form from a recording
  node dist/main.js sandbox [--fresh]               run the sandbox bank alone
  node dist/main.js sandbox --renew [--new-ca]      write a new client certificate of the same CA, or a new one, and exit
  node dist/main.js probe [--ready] [--wait SECONDS]
                                                    check whether the gateway on this machine answers, or is ready
  node dist/main.js --help | --version

  --fresh     renew all certificates and credentials of the sandbox bank
  --json      print the report as one JSON object
  --offline   check settings and certificate only
  --replay FILE
              let the sandbox bank (sandbox, serve --sandbox) serve a recording of doctor --record
  --ready     call /health/ready instead of /health/live
  --wait      retry for this many seconds

Settings come from the environment and from .env; docs/settings.md lists them.
probe uses HOST, PORT and TLS_CERT_FILE from the environment. Its exit codes: 0 it answers, 1 it does not.
Exit codes of serve: 0 stopped, 1 internal error or port taken, 2 settings, 3 client certificate.
Exit codes of doctor: 0 no step failed, 1 internal error, or the step that failed: 2 settings, 3 certificate, 4 dns, 5 route,
6 tls, 7 token, 8 accounts, 9 shape, 10 sharing.
`;

/** Short, so that the error above it stays on the screen. */
const HINT = `All commands and options: node dist/main.js --help
Settings are not options. Set them in the environment or in .env, for example PORT=3001.
`;

const OPTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  serve: ['sandbox', 'fresh', 'replay'],
  doctor: ['sandbox', 'json', 'offline', 'record', 'compare'],
  sandbox: ['fresh', 'renew', 'new-ca', 'replay'],
  probe: ['ready', 'wait'],
};

/** Runs the command on the command line; returns the exit code. */
export async function runCommandLine(process: NodeJS.Process): Promise<number> {
  const usage = (problem: string) => {
    process.stderr.write(`accounts-gateway: ${problem}\n\n${HINT}`);
    return EXIT.settings;
  };
  let given;
  try {
    given = parseOptions(process.argv.slice(2));
  } catch (error) {
    // the message goes on to explain how to pass an argument that begins with a dash
    return usage((error as Error).message.replace(/\. To specify .*$/s, ''));
  }
  const { values, positionals } = given;
  if (values.help || values.version) {
    process.stdout.write(values.help ? HELP : `${BUILD}\n`);
    return EXIT.stopped;
  }
  const empty = Object.entries(values).find(([, value]) => value === '');
  if (empty) return usage(`--${empty[0]} needs a value`);
  const command = positionals.join(' ') || 'serve';
  const ignored = Object.entries(values).find(([name, isSet]) => isSet && !OPTIONS_OF[command]?.includes(name));
  if (OPTIONS_OF[command] && ignored) return usage(`${command} has no option --${ignored[0]}`);
  if (values.replay && command === 'serve' && !values.sandbox) return usage('--replay needs --sandbox');
  if ((values.record ?? values.compare) && (values.offline || (values.record && values.compare))) {
    return usage('--record, --compare and --offline exclude each other');
  }
  if (values['new-ca'] && !values.renew) return usage('--new-ca needs --renew');
  if (values.wait !== undefined && !/^\d{1,5}$/.test(values.wait))
    return usage('--wait needs whole seconds, such as 60');
  // each command is loaded on demand: the doctor must work when the gateway does not
  switch (command) {
    case 'serve':
      return (await import('./serve.js')).serve(process, values);
    case 'doctor':
      return (await import('./doctor.js')).doctor(process, values);
    case 'sandbox':
      return (await import('./run-sandbox.js')).runSandbox(process, values);
    case 'probe':
      return (await import('./probe.js')).probe(process, values);
    default:
      return usage(`Unknown command "${command}"`);
  }
}
