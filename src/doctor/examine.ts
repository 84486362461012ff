import type { Clock } from '../clock.js';
import type { Settings } from '../config/settings.js';
import { checkCertificate } from './check-certificate.js';
import { checkSettings, type SettingsSource } from './check-settings.js';
import { examineBank } from './examine-bank.js';
import type { DoctorReport } from './report.js';
import { Walk, type OnStep } from './walk.js';

export interface ExamineOptions {
  readonly mode: Settings['bank']['mode'];
  /** Ends after the local steps. */
  readonly offline: boolean;
  readonly settings: SettingsSource;
  readonly clock: Clock;
  readonly onStep: OnStep;
}

/**
 * Walks the way to the bank hop by hop, by the gateway's own rooms, and stops at the first that is broken (docs/troubleshooting.md).
 * Facts hold names, addresses, dates, counts and fingerprints: never a secret, never an amount.
 */
export async function examine(options: ExamineOptions): Promise<DoctorReport> {
  const { mode, offline, settings: source, clock } = options;
  const walk = new Walk(options.onStep);
  const settings = await walk.step('settings', (findings) => checkSettings(source, findings));
  const material =
    settings && (await walk.step('certificate', (findings) => checkCertificate(settings, clock, findings)));
  if (settings && material && !offline) await examineBank({ walk, settings, material, clock });
  const steps = walk.reports;
  return { ok: steps.every(({ status }) => status !== 'failed'), mode, steps };
}
