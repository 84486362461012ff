import { Clock } from '../time/clock.js';
import { examine, toExitCode } from '../operations/doctor/examine.js';
import { printStep, printVerdict } from '../operations/doctor/print-report.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { loadSettings } from '../config/load-settings.js';
import { VERSION } from '../config/version.js';
import { startEmbeddedSandbox } from './embedded-sandbox.js';

interface DoctorOptions {
  readonly json: boolean;
  readonly offline: boolean;
  readonly sandbox: boolean;
}

/** Finds out why the bank is unreachable, and reports it. Returns an exit code of docs/troubleshooting.md. */
export async function doctor(process: NodeJS.Process, options: DoctorOptions): Promise<number> {
  const { json, offline } = options;
  let sandbox: Sandbox | null = null;
  const mode = options.sandbox ? 'sandbox' : 'live';
  // a reader may leave in the middle, as `head` does
  process.stdout.on('error', () => undefined);
  const print = (text: string) => void (json || process.stdout.write(text));
  print(`accounts-gateway ${VERSION} doctor (${mode}${offline ? ', offline' : ''})\n\n`);
  try {
    const report = await examine({
      mode,
      offline,
      clock: new Clock(),
      settings: async () => {
        const { settings, warnings } = loadSettings(process.env, { command: 'doctor', sandbox: options.sandbox });
        if (settings.BANK_BASE_URL !== undefined) return { settings, warnings };
        // beside a sandbox that may be running: with the same identity, on other ports
        const ports = { SANDBOX_PORT: 0, SANDBOX_AUTH_PORT: undefined, SANDBOX_CONTROL_PORT: 0 };
        const embedded = await startEmbeddedSandbox({ ...settings, ...ports });
        sandbox = embedded.sandbox;
        return { settings: embedded.settings, warnings };
      },
      onStep: (step) => print(printStep(step)),
      onWait: (reason) => print(`  ${reason}\n`),
    });
    if (json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    print(printVerdict(report, VERSION, new Date(), offline));
    return toExitCode(report);
  } finally {
    await (sandbox as Sandbox | null)?.close();
  }
}
