import { once } from 'node:events';
import { renewSandboxClient, startSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { sandboxGreeting } from '../sandbox/sandbox-greeting.js';
import { loadSettings } from '../config/load-settings.js';
import { EXIT } from './exit.js';
import type { Options } from './options.js';
import { reportFailedStart } from './report-failed-start.js';
import { listenForStop } from './listen-for-stop.js';

/** Runs the sandbox bank alone until a stop signal, or only renews its client certificate. Returns the exit code. */
export async function runSandbox(process: NodeJS.Process, options: Options): Promise<number> {
  let sandbox: Sandbox;
  try {
    // renewal needs no running bank
    const { settings, warnings } = loadSettings(process.env, { sandbox: true, command: 'sandbox' });
    for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
    if (options.renew) {
      const { SANDBOX_DIRECTORY: directory } = settings;
      const isRenewed = await renewSandboxClient(directory, { newCa: options['new-ca'] });
      const all = `No usable identity was in ${directory}: CA, user name, password and passcode are new too.\n`;
      process.stdout.write(`A new client certificate is in ${directory}/client.pfx\n${isRenewed ? '' : all}`);
      return EXIT.stopped;
    }
    sandbox = await startSandbox(settings, { fresh: options.fresh, replayFile: options.replay });
  } catch (error) {
    return reportFailedStart(process, null, error);
  }
  // before this, main.ts ends the process at once: a start that hangs must not delay that
  const stopped = once(listenForStop(process), 'abort');
  process.stdout.write(
    `${sandboxGreeting(sandbox)}\nA gateway backs off after failures. To end the back-off: kill -HUP <pid of the gateway>\n\nPress Ctrl+C to stop\n`,
  );
  await stopped;
  await sandbox.close();
  return EXIT.stopped;
}
