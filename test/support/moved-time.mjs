// Preloaded into a program: stops its clocks, and moves them by the milliseconds in the file MOVED_TIME.
import { readFileSync } from 'node:fs';

// whole milliseconds: a sum of fractions may be slightly less than a second
const [wall, monotonic] = [Date.now(), Math.floor(performance.now())];
const moved = () => Number(readFileSync(process.env.MOVED_TIME ?? '', 'utf8'));
Date.now = () => wall + moved();
performance.now = () => monotonic + moved();
