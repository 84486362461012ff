/** Exit codes of `serve` (contract §1). */
export const EXIT = { stopped: 0, ownFault: 1, settings: 2, pfx: 3 } as const;
