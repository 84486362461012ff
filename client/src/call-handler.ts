/** Calls a handler of the app. An error that it throws is reported as uncaught, or in Node printed, and ends nothing. */
export function callHandler<T extends unknown[]>(handler: (...args: T) => void, ...args: T): void {
  try {
    handler(...args);
  } catch (error) {
    const { reportError } = globalThis as { reportError?: (error: unknown) => void };
    if (reportError) reportError(error);
    else console.error(error);
  }
}
