import { styleText } from 'node:util';
import { isColorSupported, prettyFactory } from 'pino-pretty';

interface RequestLine {
  readonly event?: string;
  readonly time: string;
  readonly method?: string | null;
  readonly status: number;
  readonly ms: number;
  readonly route?: string | null;
  readonly code?: string;
  readonly requestId?: string;
}

const prettify = prettyFactory({
  ignore: 'event',
  singleLine: true,
  translateTime: 'SYS:HH:MM:ss',
  colorize: isColorSupported,
});

/** Formats a log line for people on a terminal: requests in one short line, all others with their fields. */
export function toTerminalLine(line: string): string {
  const fields = JSON.parse(line) as RequestLine;
  return fields.event === 'request' ? toRequestLine(fields) : (prettify(fields) ?? line);
}

/** `10:22:46 GET 503 252 ms /api/v1/accounts bank-error [abe26a8f]` */
function toRequestLine({ time, method, status, ms, route, code, requestId = '' }: RequestLine): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const parts = [clock, method ?? '-', paint(status), `${Math.round(ms)} ms`, route ?? '-', code];
  return `${parts.filter((part) => part !== undefined).join(' ')} [${requestId.slice(0, 8)}]\n`;
}

function paint(status: number): string {
  if (status >= 500) return styleText('red', String(status));
  return styleText(status >= 400 ? 'yellow' : 'green', String(status));
}
