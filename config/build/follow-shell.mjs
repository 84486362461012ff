const LOOK_EVERY_MS = 100;

/**
 * Stops this process when the shell that npm started it with is gone: npm passes a signal only to its shell, which then
 * dies without passing it on. After ^C, the terminal has already sent the same signal, and both count as one.
 */
export function followShell() {
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGINT');
  }, LOOK_EVERY_MS);
  timer.unref();
}
