import { SystemClock } from '../clock.js';
import { examine } from '../doctor/examine.js';
import { printStep, printVerdict } from '../doctor/print-report.js';
import { toExitCode } from '../doctor/report.js';
import { createLogger } from '../logging.js';
import { startSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { loadSettings } from '../settings/load-settings.js';
import { VERSION } from '../version.js';
import { toSandboxBank } from './sandbox-bank.js';

export interface DoctorOptions {
  readonly json: boolean;
  readonly offline: boolean;
  readonly sandbox: boolean;
}

/** Finds out why the bank can't be reached, and says so; gives the exit code of contract §9. */
export async function doctor(process: NodeJS.Process, options: DoctorOptions): Promise<number> {
  const { json, offline } = options;
  let sandbox: Sandbox | null = null;
  const mode = options.sandbox ? 'sandbox' : 'live';
  const say = (text: string) => void (json || process.stdout.write(text));
  say(`accounts-gateway ${VERSION} doctor (${mode}${offline ? ', offline' : ''})\n\n`);
  try {
    const report = await examine({
      mode,
      offline,
      clock: new SystemClock(),
      // what there is to say is in the report
      logger: createLogger({ level: 'silent', pretty: false }),
      settings: async () => {
        const { common, bank, warnings } = await loadSettings({
          sandbox: options.sandbox,
          runtimeFlags: process.execArgv,
        });
        if (bank) return { settings: { ...common, bank }, warnings };
        // beside a sandbox that may be running: its identity, other ports
        sandbox = await startSandbox({ ...common.sandbox, port: 0, authPort: null, controlPort: 0 });
        return { settings: { ...common, bank: toSandboxBank(sandbox) }, warnings };
      },
      onStep: (step) => say(printStep(step)),
    });
    if (json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    say(printVerdict(report, VERSION, new Date(), offline));
    return toExitCode(report);
  } finally {
    await (sandbox as Sandbox | null)?.close();
  }
}
