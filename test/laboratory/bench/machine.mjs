import { readdirSync, readFileSync } from 'node:fs';

function readStat(pid) {
  try {
    // the fields after the name (which may contain anything): state ppid … utime stime cutime cstime
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
    return { parent: Number(fields[1]), own: utime + stime, withEnded: utime + stime + cutime + cstime };
  } catch {
    return null;
  }
}

/** The pids of a process and its children. */
export function familyOf(root) {
  let names;
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [root];
  }
  const parents = new Map(names.map((name) => [Number(name), readStat(name)?.parent]));
  const family = [root];
  for (const pid of family) for (const [child, parent] of parents) if (parent === pid) family.push(child);
  return family;
}

/** CPU time used so far, in clock ticks (10 ms). */
export const ticksOf = (pids) => pids.reduce((sum, pid) => sum + (readStat(pid)?.own ?? 0), 0);

/** Share of the whole machine. If other programs use more, the measurement is marked. */
export const DISTURBING = 0.1;

/**
 * CPU that the bench did not get between two checks, as shares of the whole machine: used by programs other than this
 * one and its children, or given to other machines by the hypervisor (`stolen`, included in `others`).
 */
export function watchOthers() {
  const look = () => {
    try {
      const [user, nice, system, idle, wait, irq, softirq, stolen] = readFileSync('/proc/stat', 'utf8')
        .split('\n')[0]
        .trim()
        .split(/\s+/)
        .slice(1)
        .map(Number);
      const ours = familyOf(process.pid).reduce((sum, pid) => sum + (readStat(pid)?.withEnded ?? 0), 0);
      const busy = user + nice + system + irq + softirq + stolen;
      return { stolen, others: busy - ours, all: busy + idle + wait };
    } catch {
      return null;
    }
  };
  const before = look();
  return () => {
    const after = look();
    if (!before || !after || after.all === before.all) return { others: null, stolen: null };
    const share = (figure) => Math.max(0, (after[figure] - before[figure]) / (after.all - before.all));
    return { others: share('others'), stolen: share('stolen') };
  };
}

/** Current and peak resident memory, in MB; null if /proc is missing. */
export function memoryOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const read = (name) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)[1]) / 1024);
    return { now: read('VmRSS'), peak: read('VmHWM') };
  } catch {
    return null;
  }
}
