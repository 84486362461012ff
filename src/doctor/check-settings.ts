import { describeRoute } from '../egress/route.js';
import { ENV_FILE, isOfFile, type Fault } from '../config/fault.js';
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
    const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl } = settings;
    const route = describeRoute(settings, baseUrl);
    Object.assign(findings.facts, { baseUrl, authUrl, route });
    findings.lines.push(...(baseUrl === authUrl ? [baseUrl] : [`tokens    ${authUrl}`, `accounts  ${baseUrl}`]));
    if (warnings.length > 0) {
      findings.problem = toSentence(warnings);
      findings.remedy = 'Correct these settings, or leave them out.';
    }
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const { faults } = error;
    findings.facts['faults'] = faults;
    const problem = toSentence([
      ...faults.map(({ variable, problem: what }) => `${variable} ${what}`),
      ...error.warnings,
    ]);
    throw new StepFailed(
      'config-invalid',
      'operator',
      problem,
      `${toRemedy(faults)} docs/settings.md lists all settings.`,
    );
  }
}

function toRemedy(faults: readonly Fault[]): string {
  const files = faults.filter(({ problem }) => isOfFile(problem));
  const others = faults.filter((fault) => !files.includes(fault) && fault.variable !== ENV_FILE);
  const sentences: string[] = [];
  if (faults.some(({ variable }) => variable === ENV_FILE)) {
    sentences.push(`Make ${ENV_FILE} a file that this user can read, or remove it and set the environment.`);
  }
  if (others.length > 0) {
    const examples = others.flatMap(({ example }) => example ?? []);
    const example = examples.length > 0 ? `, for example ${examples.join('; ')}` : '';
    sentences.push(`Set ${others.length === 1 ? 'it' : 'them'} in the environment or in .env${example}.`);
  }
  if (files.length > 0) {
    const one = files.length === 1;
    const names = files.map(({ variable }) => variable).join(', ');
    sentences.push(
      `Put the right ${one ? 'file' : 'files'} where ${names} ${one ? 'says' : 'say'}, or correct the ${one ? 'path' : 'paths'} in the environment or in .env.`,
    );
  }
  return sentences.join(' ');
}

function toSentence(parts: readonly string[]): string {
  const text = parts.join('; ');
  return text.endsWith('?') ? text : `${text}.`;
}
