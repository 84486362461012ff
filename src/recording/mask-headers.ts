import type { IncomingHttpHeaders } from 'node:http';
import { hasManyDigits } from '../errors/many-digits.js';
import type { Mask } from './mask.js';

/** Headers that belong to a connection. */
const OF_THE_HOP = new Set(['connection', 'keep-alive', 'proxy-connection']);

/** Values that matter, each in a form that identifies nobody. */
const VALUES = new Map([
  [
    'content-type',
    /^(application\/(json|problem\+json|xml|octet-stream)|text\/(html|plain|xml))(; ?charset=(utf-8|iso-8859-1|us-ascii))?$/i,
  ],
  ['content-encoding', /^(gzip|deflate|br|zstd|identity)$/],
  ['transfer-encoding', /^chunked$/],
  ['date', /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/],
  ['retry-after', /^\d{1,6}$/],
  [
    'cache-control',
    /^((no-cache|no-store|no-transform|private|public|must-revalidate|proxy-revalidate|(s-maxage|max-age)=\d{1,9})(, ?|$))+$/,
  ],
  ['age', /^\d{1,9}$/],
  [
    'server',
    /^(nginx|openresty|Apache|Microsoft-IIS|Microsoft-HTTPAPI|Kestrel|envoy|istio-envoy|HAProxy|Varnish|cloudflare|AkamaiGHost|awselb|Jetty)(\/[\d.]{1,12})?$/i,
  ],
]);

/** Header names but those OF_THE_HOP, with the values that matter, else null. A name that is not plain is masked. */
export function maskHeaders(headers: IncomingHttpHeaders, mask: Mask): Record<string, string | null> {
  const shown = Object.entries(headers).flatMap(([name, value]) => {
    if (OF_THE_HOP.has(name)) return [];
    const isPlain = /^[a-z0-9-]{1,40}$/.test(name) && !hasManyDigits(name);
    const text = Array.isArray(value) ? value.join(', ') : value;
    const kept = text !== undefined && VALUES.get(name)?.test(text) ? text : null;
    return [[isPlain ? name : `*${mask.text(name)}`, kept] as const];
  });
  return Object.fromEntries(shown);
}
