/** Calls a handler of the app. An error that it throws is reported as uncaught, and does not end a Node process. */
export function callHandler<T extends unknown[]>(handler: (...args: T) => void, ...args: T): void {
  try {
    handler(...args);
  } catch (error) {
    const { reportError } = globalThis as { reportError?: (error: unknown) => void };
    if (reportError) reportError(error);
    else console.error(error);
  }
}
