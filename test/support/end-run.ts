const LIMIT_MS = 10_000;

/** Jest's globalTeardown: fails a run that cannot end because something is still open, instead of hanging. */
export default function endRun(): void {
  setTimeout(() => {
    process.stderr.write(`Something is still open ${LIMIT_MS} ms after the last test: try --detectOpenHandles\n`);
    process.exit(1);
  }, LIMIT_MS).unref();
}
