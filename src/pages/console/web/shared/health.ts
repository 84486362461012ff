import type { Health } from '../../../../../client/src/index.js';

export type { Health };
export type Status = Health['details']['bank']['status'];
