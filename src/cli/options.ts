import { parseArgs } from 'node:util';

const FLAG = { type: 'boolean', default: false } as const;
const OPTIONS = {
  sandbox: FLAG,
  fresh: FLAG,
  renew: FLAG,
  'new-ca': FLAG,
  json: FLAG,
  offline: FLAG,
  ready: FLAG,
  wait: { type: 'string' },
  record: { type: 'string' },
  compare: { type: 'string' },
  replay: { type: 'string' },
  version: FLAG,
  help: { ...FLAG, short: 'h' },
} as const;

export const parseOptions = (args: string[]) => parseArgs({ args, options: OPTIONS, allowPositionals: true });

/** The options on the command line; each command reads its own. */
export type Options = Readonly<ReturnType<typeof parseOptions>['values']>;
