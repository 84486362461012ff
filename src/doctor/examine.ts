import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { Settings } from '../settings/settings.js';
import { checkCertificate } from './check-certificate.js';
import { checkSettings, type SettingsSource } from './check-settings.js';
import { examineBank } from './examine-bank.js';
import type { DoctorReport, StepReport } from './report.js';
import { Walk } from './walk.js';

export interface ExamineOptions {
  readonly mode: Settings['bank']['mode'];
  /** Ends after the local steps. */
  readonly offline: boolean;
  readonly settings: SettingsSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Is told of each step as it ends. */
  readonly onStep: (report: StepReport) => void;
}

/**
 * Walks the way to the bank hop by hop, by the gateway's own rooms, and stops at the first that is broken (contract §9).
 * Facts hold names, addresses, dates, counts and fingerprints: never a secret, never an amount.
 */
export async function examine({
  mode,
  offline,
  settings: source,
  clock,
  logger,
  onStep,
}: ExamineOptions): Promise<DoctorReport> {
  const walk = new Walk(onStep);
  const settings = await walk.step('settings', (findings) => checkSettings(source, findings));
  const material =
    settings && (await walk.step('certificate', (findings) => checkCertificate(settings, clock, findings)));
  if (settings && material && !offline) await examineBank({ walk, settings, material, clock, logger });
  const steps = walk.reports;
  return { ok: steps.every(({ status }) => status !== 'failed'), mode, steps };
}
