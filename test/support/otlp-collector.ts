import { createServer, type IncomingHttpHeaders } from 'node:http';
import { startWebServer } from './servers.js';

export interface Collector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** The spans of requests answered with 200, oldest first. */
  readonly spans: CollectedSpan[];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** The status of its responses. */
  status: number;
  close(): void;
}

/** A collector that receives OTLP over HTTP in protobuf (opentelemetry-proto, trace/v1). */
export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      collector.requests.push({ path: request.url ?? '', headers: request.headers, body });
      if (collector.status === 200) collector.spans.push(...readSpans(body));
      response.writeHead(collector.status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  const collector: Collector = {
    url: await startWebServer(server),
    spans: [],
    requests: [],
    status: 200,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return collector;
}

type Field = number | bigint | Buffer;
type Message = ReadonlyMap<number, readonly Field[]>;

/** The fields of a protobuf message, by number. */
function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => bytes.subarray(at, (at += length));
  const readers: Readonly<Record<number, () => Field>> = {
    0: varint,
    1: () => take(8).readBigUInt64LE(),
    2: () => take(Number(varint())),
    5: () => take(4).readUInt32LE(),
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const read = readers[tag & 7];
    if (!read) throw new Error(`no such wire type: ${tag & 7}`);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), read()]);
  }
  return fields;
}

const all = (message: Message, number: number): Message[] =>
  (message.get(number) ?? []).map((field) => readMessage(field as Buffer));
const bytesOf = (message: Message, number: number) => (message.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer;
const textOf = (message: Message, number: number) => bytesOf(message, number).toString('utf8');
const hexOf = (message: Message, number: number) => bytesOf(message, number).toString('hex');

const KINDS: Readonly<Record<number, string>> = { 1: 'internal', 2: 'server', 3: 'client' };
const FAILED = 2n;

const readSpans = (body: Buffer): CollectedSpan[] =>
  all(readMessage(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(all(resourceSpans, 1)[0] ?? new Map(), 1);
    const spans = all(resourceSpans, 2).flatMap((scopeSpans) => all(scopeSpans, 2));
    return spans.map((span) => ({ ...toSpan(span), resource }));
  });

export type CollectedSpan = ReturnType<typeof toSpan> & { readonly resource: Readonly<Record<string, unknown>> };

function toSpan(span: Message) {
  if (span.has(11)) throw new Error('a span has events, which no test looks into');
  return {
    traceId: hexOf(span, 1),
    spanId: hexOf(span, 2),
    /** Empty for a root span. */
    parentSpanId: hexOf(span, 4),
    name: textOf(span, 5),
    kind: KINDS[Number(span.get(6)?.[0])],
    attributes: attributesOf(span, 9),
    /** Ids of the linked spans. */
    links: all(span, 13).map((link) => hexOf(link, 2)),
    failed: all(span, 15)[0]?.get(3)?.[0] === FAILED,
  };
}

/** Pairs of a name and a string, a boolean (field 2) or an integer. */
function attributesOf(message: Message, number: number): Record<string, unknown> {
  const pairs = all(message, number).map((pair) => {
    const [[type, [field]] = [0, []]] = all(pair, 2)[0] ?? [];
    const value = Buffer.isBuffer(field) ? field.toString('utf8') : type === 2 ? field === 1n : Number(field);
    return [textOf(pair, 1), value] as const;
  });
  return Object.fromEntries(pairs);
}
