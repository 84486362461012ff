// Jest's setupFilesAfterEnv: jest-light-runner has no bound on the time of a test. One that hangs is to fail by its name.
import { addEventHandler } from 'jest-circus';

/** Tells a hanging test from one on a machine with other things to do. */
const USUAL_MS = 60_000;
// not those that a test puts in their place
const { setTimeout, clearTimeout, setImmediate } = globalThis;

addEventHandler((event, { currentDescribeBlock: block }) => {
  const added =
    event.name === 'add_test' ? block.children.at(-1) : event.name === 'add_hook' ? block.hooks.at(-1) : undefined;
  if (added === undefined || added.type === 'describeBlock' || added.fn === undefined) return;
  const { fn: work, timeout } = added;
  added.fn = () => bounded(timeout ?? USUAL_MS, work as () => unknown);
});

async function bounded(limitMs: number, work: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
    // a rejection that nobody handles is told once nothing else is to be done
    await new Promise((resolve) => setImmediate(resolve));
  }
}
