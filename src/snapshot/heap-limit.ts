import { totalmem } from 'node:os';

/** Heap of one list, MB, wherever there is memory for it. */
const MAX_HEAP_MB = 1024;
/** Enough for a few thousand accounts; a list gets it however small the memory is. */
const MIN_HEAP_MB = 48;
/** Left for the serving thread, for pages on their way and for what V8 needs beside these heaps, MB. */
const RESERVED_MB = 400;

/**
 * The heap limit of the next list, MB: half of the memory of the process (its container's limit), because the cached list and the
 * next one are in memory at once; less if downloads keep other lists.
 * @param memoryMb of the process
 * @param heapsMb of the lists in memory
 */
export function heapLimitMb(memoryMb: number, heapsMb: readonly number[]): number {
  const forLists = memoryMb - RESERVED_MB;
  const half = forLists / 2;
  const used = heapsMb.reduce((sum, heapMb) => sum + Math.min(heapMb, half), 0);
  return Math.floor(Math.max(MIN_HEAP_MB, Math.min(MAX_HEAP_MB, half, forLists - used)));
}

/** Memory that this process may use, MB. */
export function memoryOfProcessMb(): number {
  // 0 or more than there is: no limit
  const limit = process.constrainedMemory() || Infinity;
  return Math.min(limit, totalmem()) / 1_048_576;
}
