/** Open to every caller and `Host`; the responses contain the status only. */
const PROBES = new Set(['/health/live', '/health/ready']);

/** True for the path, or the route, of a probe. */
export const isProbe = (path: string): boolean => PROBES.has(path);

/** True for a path, or a route, of the API. */
export const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/** The path of a URL, unchanged. */
export function toPath(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
