import { spawn } from 'node:child_process';

interface Prober {
  /** Ends it; gives how long each probe took (ms, sorted), and how many were not answered with 200. */
  stop(): Promise<{ readonly took: readonly number[]; readonly failed: number }>;
}

const CODE = `
  const { get } = require('node:http');
  const took = []; let failed = 0; let on = true;
  process.stdin.on('end', () => (on = false)).resume();
  function probe() {
    const started = performance.now();
    const note = (ok) => {
      took.push(performance.now() - started);
      if (!ok) failed += 1;
      if (on) setTimeout(probe, 10); else process.stdout.write(JSON.stringify({ took: took.sort((a, b) => a - b), failed }));
    };
    get(process.argv[1], { agent: false }, (answer) => answer.resume().on('end', () => note(answer.statusCode === 200))).on('error', () => note(false));
  }
  probe();
`;

/** Asks an address again and again, on fresh connections and from a process of its own: the crowd in ours would count in. */
export function startProber(url: string): Prober {
  const child = spawn(process.execPath, ['-e', CODE, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  return {
    stop: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.end();
      await ended;
      return JSON.parse(text) as { took: number[]; failed: number };
    },
  };
}
