/** Open to every caller and `Host`; the responses contain the status only. */
const PROBES = new Set(['/health/live', '/health/ready']);

/** The router gives up on a longer parameter. An id has 200 UTF-16 units, each percent-encoded in at most 9 characters. */
export const MAX_SEGMENT_LENGTH = 1800;

/** True for the path, or the route, of a probe. */
export const isProbe = (path: string): boolean => PROBES.has(path);

/** The path of a URL, unchanged. */
export function toPath(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** True for a path of the API, decoded as the router does: %61pi is api. */
export const isApi = (path: string): boolean => decode(path)?.startsWith('/api') ?? true;

/** True for a path whose percent-encoding is that of no text. */
export const isUndecodable = (path: string): boolean => path.includes('%') && decode(path) === null;

/** True for a path with a part that is longer than the router reads. */
export const hasLongSegment = (path: string): boolean =>
  path.length > MAX_SEGMENT_LENGTH && path.split('/').some((segment) => segment.length > MAX_SEGMENT_LENGTH);

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
