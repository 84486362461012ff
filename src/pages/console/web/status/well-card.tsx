import type { Health } from '../shared/health.js';
import { LevelIcon } from '../shared/icon.js';
import { toDate } from '../shared/time.js';
import { toSubject } from './apps.js';

interface Props {
  readonly health: Health;
  /** Number of apps that called in the last minute. */
  readonly apps: number;
}

/** What apps get while all is well, and the next thing that somebody must do. */
export function WellCard({ health: { details }, apps }: Props) {
  const { accounts } = details.snapshot;
  const count = `${accounts} ${accounts === 1 ? 'account' : 'accounts'}`;
  return (
    <section class="card well row" aria-labelledby="headline">
      <LevelIcon level="ok" />
      <h1 id="headline">Operational</h1>
      <p class="grow">
        {toSubject(apps, 'get')} current data, {count}.
      </p>
      <p class="quiet">{toNext(details)}</p>
    </section>
  );
}

const EXPIRING_MS = 30 * 86_400_000;

/** The certificate that expires first, and the day on which /health becomes degraded: 30 days before. */
function toNext({ certificate, listener }: Health['details']): string {
  const ends = Date.parse(certificate.notAfter);
  const listenerEnds = Date.parse(listener?.notAfter ?? certificate.notAfter);
  const name = listenerEnds < ends ? 'certificate of this API' : 'certificate';
  return `Next: renew the ${name} by ${toDate(new Date(Math.min(ends, listenerEnds) - EXPIRING_MS).toISOString())}`;
}
