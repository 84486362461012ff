import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Unused heap above which saving memory matters more than speed. Ordinary load stays below it. */
const MAX_UNUSED_BYTES = 80 * 1024 * 1024;
const CHECK_EVERY_MS = 5000;

/**
 * Makes V8 return memory after a burst. By default, V8 keeps the burst's memory as long as little is allocated: 180 MB
 * for minutes (test/laboratory/bench/README.md#attacks). With the flag, a call takes about a fifth more CPU.
 */
export function spareMemory(heap = getHeapStatistics, setFlag = setFlagsFromString, everyMs = CHECK_EVERY_MS): void {
  let isSparing = false;
  const check = () => {
    const { total_heap_size: held, used_heap_size: used } = heap();
    const isWasteful = held - used > MAX_UNUSED_BYTES;
    if (isWasteful !== isSparing) setFlag(isWasteful ? '--optimize-for-size' : '--no-optimize-for-size');
    isSparing = isWasteful;
  };
  setInterval(check, everyMs).unref();
}
