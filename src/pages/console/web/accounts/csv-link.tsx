import { useEffect, useState } from 'preact/hooks';
import { fetchAsPage } from '../shared/gateway.js';
import { client } from './client.js';
import { toFileName, toFilters, type View } from './view.js';

/** Time after which the browser has taken over the download. */
const REVOKE_AFTER_MS = 10_000;
const FAILED = 'CSV failed';
const SHOWN_MS = 5000;

interface Props {
  readonly view: View;
  readonly environment: string;
}

/**
 * Downloads every account in the view as CSV, in the same order. The file name has environment, filters and the time of
 * the data.
 */
export function CsvLink({ view, environment }: Props) {
  const [state, setState] = useState('CSV');
  const url = client.exportUrl({ ...toFilters(view), sort: view.sort });

  useEffect(() => {
    if (state !== FAILED) return undefined;
    const timer = window.setTimeout(() => setState('CSV'), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [state]);

  async function download(): Promise<void> {
    setState('CSV …');
    try {
      const response = await fetchAsPage(url, { headers: { 'X-Client-Name': 'console' } });
      if (!response.ok) throw new Error(String(response.status));
      const asOf = response.headers.get('Snapshot-As-Of') ?? new Date().toISOString();
      save(await response.blob(), toFileName(environment, view, asOf));
      setState('CSV');
    } catch {
      setState(FAILED);
    }
  }

  return (
    <a
      class="button"
      href={url}
      download
      onClick={(event) => {
        event.preventDefault();
        void download();
      }}
    >
      <span aria-live="polite">{state}</span>
    </a>
  );
}

/** Downloads through a temporary link, because the server's file name would override the name in a direct link. */
function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
}
