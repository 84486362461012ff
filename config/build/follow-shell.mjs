const LOOK_EVERY_MS = 100;

/**
 * Stops this process when the shell that npm started it with is gone: npm passes a signal to its shell only, and the shell dies of it
 * alone. After ^C the terminal has sent the same signal already, and both count as one.
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
