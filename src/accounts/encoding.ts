import Negotiator from 'negotiator';
import { remember } from './remember.js';

export type Encoding = 'br' | 'gzip' | 'identity';

const OFFERED: Encoding[] = ['br', 'gzip', 'identity'];
const PREFERRED = ['br', 'gzip'];

/** @types/negotiator is older than negotiator 1, which takes preferences. */
interface EncodingChoice {
  encoding(available: string[], options: { preferred: string[] }): string | undefined;
}

/** The encoding for an Accept-Encoding header: br before gzip where the caller likes both alike. */
export const toEncoding = remember((header): Encoding => {
  if (!header) return 'identity';
  const choice: EncodingChoice = new Negotiator({ headers: { 'accept-encoding': header } });
  return (choice.encoding(OFFERED, { preferred: PREFERRED }) as Encoding | undefined) ?? 'identity';
});
