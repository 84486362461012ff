/** Exit codes of the commands; the doctor has one for each step (operations/doctor/examine.ts). */
export const EXIT = { stopped: 0, internalError: 1, settings: 2, certificate: 3 } as const;
