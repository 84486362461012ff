import { describeRoute } from '../egress/route.js';
import { SettingsInvalid } from '../config/settings-error.js';
import type { Settings } from '../config/settings.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** Reads the settings and says which bank they lead to. @throws SettingsInvalid */
export type SettingsSource = () => Promise<{ readonly settings: Settings; readonly warnings: readonly string[] }>;

/** The first step: all settings, read as the gateway reads them. An example is given as it would stand in .env. */
export async function checkSettings(source: SettingsSource, findings: Findings): Promise<Settings> {
  try {
    const { settings, warnings } = await source();
    const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl } = settings;
    Object.assign(findings.facts, { baseUrl, authUrl, route: describeRoute(settings, baseUrl) });
    if (warnings.length > 0) {
      findings.warning = { problem: toSentence(warnings), remedy: 'Correct these settings, or leave them out.' };
    }
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const { errors, warnings } = error;
    const examples = errors.map(({ example }) => example).join('; ');
    throw new StepFailed(
      'config-invalid',
      'operator',
      toSentence([...errors.map(({ variable, problem }) => `${variable} ${problem}`), ...warnings]),
      `Correct ${errors.length === 1 ? 'it' : 'them'} in the environment or in .env, for example ${examples}. docs/settings.md lists all settings.`,
    );
  }
}

function toSentence(parts: readonly string[]): string {
  const text = parts.join('; ');
  return text.endsWith('?') ? text : `${text}.`;
}
