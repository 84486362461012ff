/** Exit codes of `serve` and `sandbox`; those of the doctor are in docs/troubleshooting.md. */
export const EXIT = { stopped: 0, internalError: 1, settings: 2, certificate: 3 } as const;
