import { describeRoute } from '../egress/route.js';
import { SettingsInvalid } from '../config/read-settings.js';
import type { Settings } from '../config/settings.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** Reads the settings and says which bank they lead to. @throws SettingsInvalid */
export type SettingsSource = () => Promise<{ readonly settings: Settings; readonly warnings: readonly string[] }>;

/** The first step: all settings, read as the gateway reads them. An example is given as it would stand in .env. */
export async function checkSettings(source: SettingsSource, findings: Findings): Promise<Settings> {
  try {
    const { settings, warnings } = await source();
    const { bank, egress } = settings;
    const { baseUrl, authUrl } = bank;
    const route = describeRoute(egress, baseUrl);
    Object.assign(findings.facts, { baseUrl, authUrl, route });
    findings.lines.push(...(baseUrl === authUrl ? [baseUrl] : [`tokens    ${authUrl}`, `accounts  ${baseUrl}`]));
    if (warnings.length > 0) {
      findings.problem = `${warnings.join('; ')}.`;
      findings.remedy = 'Correct these settings, or leave them out.';
    }
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const { faults } = error;
    findings.facts['faults'] = faults;
    const problem = [...faults.map(({ variable, problem: what }) => `${variable} ${what}`), ...error.warnings].join(
      '; ',
    );
    const examples = faults.flatMap(({ example }) => example ?? []);
    const example = examples.length > 0 ? `, for example ${examples.join('; ')}` : '';
    throw new StepFailed(
      'config-invalid',
      'operator',
      problem.endsWith('?') ? problem : `${problem}.`,
      `Set ${faults.length === 1 ? 'it' : 'them'} in the environment or in .env${example}. docs/settings.md lists all settings.`,
    );
  }
}
