import { totalmem } from 'node:os';

/** Heap of one list, MB, wherever there is memory for it. */
const MAX_HEAP_MB = 1024;
/** Enough for a few thousand accounts; a list gets it however small the memory is. */
const MIN_HEAP_MB = 48;
/** Left for the serving thread and for pages on their way, MB. */
const RESERVED_MB = 288;

/**
 * The heap limit of the next list, MB: half of the memory of the process (its container's limit), because the cached list and the
 * next one are in memory at once, and no more than the lists in memory leave, such as those that downloads keep.
 * @param memoryMb of the process
 * @param usedMb heap of the lists in memory
 */
export function heapLimitMb(memoryMb: number, usedMb: number): number {
  const forLists = memoryMb - RESERVED_MB;
  return Math.floor(Math.max(MIN_HEAP_MB, Math.min(MAX_HEAP_MB, forLists / 2, forLists - usedMb)));
}

/** Memory that this process may use, MB. */
export function memoryOfProcessMb(): number {
  // 0 or more than there is: no limit
  const limit = process.constrainedMemory() || Infinity;
  return Math.min(limit, totalmem()) / 1_048_576;
}
