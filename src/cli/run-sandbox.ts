import { startSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { renewClientFile } from '../sandbox/identity/identity.js';
import { sandboxGreeting } from '../sandbox/sandbox-greeting.js';
import { SandboxNotStarted } from '../sandbox/listen.js';
import { loadSettings } from '../config/load-settings.js';
import { SettingsInvalid } from '../config/settings-error.js';
import { describeErrors, EXIT } from './exit.js';
import { toSandboxOptions } from './sandbox-bank.js';
import { listenForStop } from './stop-signal.js';

/** Runs the sandbox bank alone until a signal to stop; with `renew` only renews its client certificate. Returns the exit code. */
export async function runSandbox(
  process: NodeJS.Process,
  options: { readonly fresh: boolean; readonly renew: boolean },
): Promise<number> {
  const stop = listenForStop(process);
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
    sandbox = await startSandbox(toSandboxOptions(settings), options);
  } catch (error) {
    if (error instanceof SettingsInvalid) {
      process.stderr.write(describeErrors(error));
      return EXIT.settings;
    }
    if (error instanceof SandboxNotStarted) {
      process.stderr.write(`${error.message}\n`);
      return EXIT.internalError;
    }
    throw error;
  }
  process.stdout.write(
    `${sandboxGreeting(sandbox)}\nA gateway backs off after failures. To end that: kill -HUP <pid of the gateway>\n\nCtrl+C stops it\n`,
  );
  await stop.received;
  await sandbox.close();
  return EXIT.stopped;
}
