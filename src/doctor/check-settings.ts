import { describeRoute } from '../egress/egress.js';
import { SettingsInvalid } from '../settings/read-settings.js';
import type { Settings } from '../settings/settings.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** Reads the settings and says which bank they lead to. @throws SettingsInvalid */
export type SettingsSource = () => Promise<{ readonly settings: Settings; readonly warnings: readonly string[] }>;

/** The first step: all settings, read as the gateway reads them. */
export async function checkSettings(source: SettingsSource, findings: Findings): Promise<Settings> {
  try {
    const { settings, warnings } = await source();
    const { bank, egress } = settings;
    Object.assign(findings.facts, {
      baseUrl: bank.baseUrl,
      authUrl: bank.authUrl,
      route: describeRoute(egress, bank.baseUrl),
    });
    if (warnings.length > 0) {
      findings.problem = warnings.join('; ');
      findings.remedy = 'Correct the names, or leave these settings out.';
    }
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const faults = error.faults.map(({ variable, problem }) => `${variable} ${problem}`);
    const examples = error.faults.flatMap(({ variable, example }) =>
      example === undefined ? [] : [`${variable}: ${example}`],
    );
    throw new StepFailed(
      'config-invalid',
      'operator',
      `${[...faults, ...error.warnings].join('; ')}.`,
      `Set them in the environment or in .env${examples.length > 0 ? `, for example: ${examples.join('; ')}` : ''}. The README lists all settings.`,
    );
  }
}
