import { once } from 'node:events';
import { startSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { renewClientFile } from '../sandbox/identity/identity.js';
import { sandboxGreeting } from '../sandbox/sandbox-greeting.js';
import { loadSettings } from '../config/load-settings.js';
import { EXIT } from './exit.js';
import { reportFailedStart } from './report-failed-start.js';
import { listenForStop } from './listen-for-stop.js';

/** Runs the sandbox bank alone until a signal to stop; with `renew` only renews its client certificate. Returns the exit code. */
export async function runSandbox(
  process: NodeJS.Process,
  options: { readonly fresh: boolean; readonly renew: boolean },
): Promise<number> {
  const stopped = once(listenForStop(process), 'abort');
  let sandbox: Sandbox;
  try {
    // no bank is needed to run one
    const { settings, warnings } = await loadSettings({ sandbox: true, sandboxAlone: true });
    for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
    if (options.renew) {
      const { SANDBOX_DIRECTORY: directory } = settings;
      await renewClientFile(directory);
      process.stdout.write(`A new client certificate is in ${directory}/client.pfx\n`);
      return EXIT.stopped;
    }
    sandbox = await startSandbox(settings, options);
  } catch (error) {
    return reportFailedStart({ stderr: process.stderr, logger: null, onTerminal: false }, error);
  }
  process.stdout.write(
    `${sandboxGreeting(sandbox)}\nA gateway backs off after failures. To end the back-off: kill -HUP <pid of the gateway>\n\nCtrl+C stops it\n`,
  );
  await stopped;
  await sandbox.close();
  return EXIT.stopped;
}
