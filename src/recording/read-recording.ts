import { z } from 'zod';
import { decodeText, FileUnusable, readSmallFile } from '../files/small-file.js';

const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** One refresh requests at most 2000 pages. */
const MAX_LINES = 2100;

/** The first line of a recording. */
const factsSchema = z.object({
  recording: z.literal(1),
  at: z.string().max(40),
  version: z.string().max(40),
  httpVersion: z.string().max(10),
  tls: z.record(
    z.string().max(20),
    z.object({
      version: z.string().max(20),
      salt: z.string().max(64),
      chain: z
        .array(z.object({ subjectKey: z.string().max(64), validFrom: z.string().max(40), validTo: z.string().max(40) }))
        .max(10),
    }),
  ),
});

/** Every other line: one call, and the bank's response. */
const exchangeSchema = z.object({
  kind: z.enum(['token', 'page', 'past-the-end', 'one-row']),
  path: z.string().max(200),
  query: z.record(z.string().max(40), z.string().max(40)),
  status: z.int().min(100).max(599).nullable(),
  /** The problem code if there was no response. */
  failure: z.string().max(60).nullable(),
  headers: z.record(z.string().max(200), z.string().max(500).nullable()),
  ms: z.number(),
  body: z.string(),
});

export type RecordingFacts = z.output<typeof factsSchema>;
export type Exchange = z.output<typeof exchangeSchema>;
export type ExchangeKind = Exchange['kind'];
export type Recording = ReturnType<typeof readRecording>;

/** Reads a recording from `doctor --record`, which is untrusted input. @throws FileUnusable, which never quotes it */
export function readRecording(file: string) {
  const reject = (why: string) => new FileUnusable(file, `is not a recording of the doctor: ${why}`);
  const text = decodeText(readSmallFile(file, MAX_FILE_BYTES)).trimEnd();
  if (text === '') throw reject('it is empty');
  const lines = text.split('\n', MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw reject(`it has more than ${MAX_LINES} lines`);
  const [first, ...others] = lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      throw reject(`line ${index + 1} is not JSON`);
    }
  });
  const check = <T>(schema: z.ZodType<T>, value: unknown, line: number): T => {
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    // deeper keys are the file's own words
    throw reject(`line ${line}, ${String(error.issues[0]?.path[0] ?? 'the whole of it')}: unexpected form`);
  };
  const facts = check(factsSchema, first, 1);
  return { facts, exchanges: others.map((value, index) => check(exchangeSchema, value, index + 2)) };
}
