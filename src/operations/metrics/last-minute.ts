import type { RecentCall } from './recent-call.js';

const SECONDS = 60;
/** Durations are counted in steps of 15 %, from 0.05 ms to a minute. */
const STEPS = 100;
const FIRST_MS = 0.05;
const GROWTH = 1.15;

/** The calls of one second. A slot is reused a minute later. */
interface Slot {
  second: number;
  requests: number;
  current: number;
  stale: number;
  errors: number;
  readonly durations: Uint16Array;
}

/** The calls of one caller in the last 60 seconds, in at most 60 slots, however many calls there are. */
export class LastMinute {
  readonly #slots = new Map<number, Slot>();

  /** @param nowMs of a clock that never goes back */
  record(nowMs: number, { ms, got }: RecentCall): void {
    const slot = this.#slotAt(toSecond(nowMs));
    slot.requests += 1;
    if (got !== 'other') slot[got] += 1;
    const step = toStep(ms);
    slot.durations[step] = (slot.durations[step] ?? 0) + 1;
  }

  read(nowMs: number) {
    const since = toSecond(nowMs) - SECONDS;
    const sums = { requests: 0, current: 0, stale: 0, errors: 0 };
    const durations = new Uint32Array(STEPS);
    for (const slot of this.#slots.values()) {
      if (slot.second <= since) continue;
      sums.requests += slot.requests;
      sums.current += slot.current;
      sums.stale += slot.stale;
      sums.errors += slot.errors;
      for (const [step, count] of slot.durations.entries()) durations[step] = (durations[step] ?? 0) + count;
    }
    return { ...sums, p99Ms: toP99(durations, sums.requests) };
  }

  #slotAt(second: number): Slot {
    const index = second % SECONDS;
    const known = this.#slots.get(index);
    if (known?.second === second) return known;
    const durations = known ? known.durations.fill(0) : new Uint16Array(STEPS);
    const slot = { second, requests: 0, current: 0, stale: 0, errors: 0, durations };
    this.#slots.set(index, slot);
    return slot;
  }
}

const toSecond = (ms: number): number => Math.floor(ms / 1000);

function toStep(ms: number): number {
  const step = Math.ceil(Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / Math.log(GROWTH));
  return Math.min(step, STEPS - 1);
}

/** The duration that 99 of 100 calls did not exceed, ms, within 8 %; null without calls. */
function toP99(durations: Uint32Array, requests: number): number | null {
  if (requests === 0) return null;
  let counted = 0;
  const step = durations.findIndex((count) => {
    counted += count;
    return counted >= requests * 0.99;
  });
  // the middle of the step
  return Number((FIRST_MS * GROWTH ** (step - 0.5)).toPrecision(2));
}
