import { accessSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Clock } from '../time/clock.js';
import { examine, toExitCode } from '../operations/doctor/examine.js';
import type { StepReport } from '../operations/doctor/steps.js';
import { toPrintable, toStepText, toVerdictText } from '../operations/doctor/report-text.js';
import { compareForms } from '../recording/compare-forms.js';
import { Recorder, type MaskedRecording } from '../recording/recorder.js';
import { readRecording, type Recording } from '../recording/read-recording.js';
import { loadSettings } from '../config/load-settings.js';
import { FileUnusable, whyNotWritten } from '../files/small-file.js';
import { VERSION } from '../config/build-output.js';
import { startEmbeddedSandbox } from './embedded-sandbox.js';
import { EXIT } from './exit.js';
import type { Options } from './options.js';

/** Exit code of a comparison that found differences. */
const DIFFERENT = 9;

/** Finds out why the bank is unreachable, and reports it. Returns an exit code of docs/troubleshooting.md. */
export async function doctor(process: NodeJS.Process, options: Options): Promise<number> {
  const { json, offline } = options;
  const mode = options.sandbox ? 'sandbox' : 'live';
  // the reader may close the pipe early, as `head` does
  process.stdout.on('error', () => undefined);
  const print = (text: string) => void (json || process.stdout.write(text));
  const recorder = (options.record ?? options.compare) ? new Recorder() : undefined;
  let compared: Recording | null = null;
  try {
    if (options.record) checkWritable(options.record);
    if (options.compare) compared = readRecording(options.compare);
  } catch (error) {
    return reportUnusable(process, options, error);
  }
  print(`accounts-gateway ${VERSION} doctor (${mode}${offline ? ', offline' : ''})\n\n`);
  await using opened = new AsyncDisposableStack();
  const settings = async () => {
    const { settings: read, warnings } = loadSettings(process.env, { command: 'doctor', sandbox: options.sandbox });
    if (read.mode === 'live') return { settings: read, warnings };
    // next to a sandbox that may be running: the same identity, but other ports
    const ports = { SANDBOX_PORT: 0, SANDBOX_AUTH_PORT: undefined, SANDBOX_CONTROL_PORT: 0 };
    const embedded = await startEmbeddedSandbox({ ...read, ...ports });
    opened.defer(() => embedded.sandbox.close());
    return { settings: embedded.settings, warnings };
  };
  const onStep = (step: StepReport) => print(toStepText(step));
  const report = await examine({ mode, offline, clock: new Clock(), settings, onStep, recorder });
  const recording = recorder?.mask(new Date()) ?? null;
  const differences = compared && recording ? compareForms(compared.exchanges, recording.exchanges) : null;
  if (json) process.stdout.write(`${JSON.stringify({ ...report, ...(differences && { differences }) }, null, 2)}\n`);
  print(toVerdictText(report, VERSION, new Date(), offline));
  try {
    if (options.record && recording) print(write(options.record, recording, process.stdout.isTTY === true));
  } catch (error) {
    return reportUnusable(process, options, error);
  }
  const exitCode = toExitCode(report);
  // a bank that has always failed like this has not changed
  if (differences === null || (exitCode !== 0 && exitCode < 7)) return exitCode;
  const found = differences.map((difference) => `  ${toPrintable(difference)}\n`).join('');
  print(`\n${differences.length} differences in form from ${options.compare}\n${found}`);
  return differences.length === 0 ? EXIT.stopped : DIFFERENT;
}

/** Reports a file that cannot be read or written. Returns the exit code. */
function reportUnusable({ stderr }: NodeJS.Process, { record }: Options, error: unknown): number {
  const why = error instanceof FileUnusable ? error.message : `${record} cannot be written: ${whyNotWritten(error)}`;
  stderr.write(`accounts-gateway doctor: ${why}.\n`);
  return EXIT.settings;
}

/** Checks that the directory is writable and that no other kind of file would be replaced. @throws ErrnoException */
function checkWritable(file: string): void {
  accessSync(dirname(file), constants.W_OK);
  const isOther = statSync(file, { throwIfNoEntry: false })?.isFile() === false;
  if (isOther) throw Object.assign(new Error(), { code: 'no regular file' });
}

/** Writes the recording. Returns the text to print, with values only on a terminal. @throws ErrnoException */
function write(file: string, { text, exchanges, maskedValues, samples }: MaskedRecording, onTerminal: boolean): string {
  // an existing file may have another mode, be a link, or be needed if the disk is full
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  const shown = onTerminal
    ? samples.map(([before, after]) => `  ${before}  →  ${after}\n`.replaceAll(/[^\P{Cc}\n]/gu, '?'))
    : [];
  const intro = shown.length > 0 ? `${shown.length} of them, not for the ticket:\n` : '';
  return `\nRecorded ${exchanges.length} calls in ${file} (mode 600). ${maskedValues} values were masked. ${intro}\n${shown.join('')}`;
}
