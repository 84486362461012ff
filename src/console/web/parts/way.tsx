import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { ageOf, type Health } from '../gateway.js';
import { levelOf, type HopName, type Level, type Trouble } from '../picture.js';
import { toAge, toClock, toCountdown, toDate, toDaysLeft } from '../time.js';
import type { Live } from '../use-live.js';
import { useNow } from '../use-now.js';
import { LevelIcon } from './icon.js';

interface Props {
  readonly live: Live;
  readonly troubles: readonly Trouble[];
  readonly snapshot: { readonly asOf: string } | null;
}

/** The way from this page to the bank, hop by hop, so that a break is seen where it is. */
export function Way({ live, troubles, snapshot }: Props) {
  const { health } = live;
  const details = health?.details;
  const level = (hop: HopName) => levelOf(hop, live, troubles);
  // where it is broken, what the fault is called says more than the usual note; of what ends soon the date says more
  const note = (hop: HopName, usual: ComponentChildren) => {
    const trouble = troubles.find((each) => each.hop === hop);
    return trouble && (hop !== 'certificate' || trouble.level === 'bad') ? trouble.code : usual;
  };
  return (
    <section aria-label="The way to the bank">
      <ol class="way">
        <Hop name="This page" level={level('page')} note={note('page', toPageNote(live))}>
          <span data-testid="connection">{toConnection(live)}</span>
        </Hop>
        <Hop name="Data" level={level('accounts')} note={toDataNote(health)}>
          <DataAge asOf={snapshot?.asOf ?? details?.snapshot.asOf ?? null} />
        </Hop>
        <Hop
          name="Certificate"
          level={level('certificate')}
          note={note('certificate', details ? <>until {toDate(details.certificate.notAfter)}</> : '')}
        >
          <DaysLeft health={health} />
        </Hop>
        <Hop name="Token" level={level('token')} note={note('token', toTokenNote(health))}>
          <TokenTime live={live} />
        </Hop>
        <Hop name="Way out" level={level('route')} note={note('route', toRouteNote(details?.egress.route))}>
          {toRoute(details?.egress.route)}
        </Hop>
        <Hop name="Bank" level={level('bank')} note={note('bank', toBankNote(health))}>
          {details?.bank.lastSuccessAt ? (
            <time dateTime={details.bank.lastSuccessAt}>{toClock(details.bank.lastSuccessAt)}</time>
          ) : (
            '–'
          )}
        </Hop>
      </ol>
    </section>
  );
}

interface HopProps {
  readonly name: string;
  readonly level: Level;
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}

const Hop = ({ name, level, note, children }: HopProps) => (
  <li class={`hop hop-${level}`}>
    <LevelIcon level={level} />
    <span class="hop-name">{name}</span>
    <span class="hop-value">{children}</span>
    <span class="hop-note">{note}</span>
  </li>
);

function toConnection({ trouble, connected }: Live): string {
  if (trouble) return 'not connected';
  if (connected === null) return 'connecting';
  return connected ? 'live' : 'reconnecting';
}

function toPageNote({ connected }: Live): string {
  if (connected === null) return '';
  return connected ? 'changes show at once' : 'asks every few seconds';
}

function DataAge({ asOf }: { readonly asOf: string | null }) {
  const now = useNow();
  const heard = useRef<{ asOf: string; heard: ReturnType<typeof ageOf> } | null>(null);
  if (asOf === null) return <>–</>;
  const known = ageOf(asOf, heard.current?.asOf === asOf ? heard.current.heard : null);
  heard.current = { asOf, heard: known };
  return <time dateTime={asOf}>{toAge((known.ageMs + Math.max(0, now - known.at)) / 1000)} old</time>;
}

function toDataNote(health: Health | null): string {
  const { accounts, stale } = health?.details.snapshot ?? {};
  if (accounts === null || accounts === undefined) return '';
  return `${accounts} ${accounts === 1 ? 'account' : 'accounts'}${stale ? ', stale' : ''}`;
}

function DaysLeft({ health }: { readonly health: Health | null }) {
  useNow();
  if (!health) return <>–</>;
  const left = Date.parse(health.details.certificate.notAfter) - Date.now();
  return <>{left > 0 ? toDaysLeft(left) : 'ended'}</>;
}

function TokenTime({ live: { health, healthAt } }: { readonly live: Live }) {
  const now = useNow();
  const left = health?.details.token.expiresInSeconds ?? null;
  if (left === null) return <>–</>;
  return <>{toCountdown(left - Math.max(0, now - healthAt) / 1000)}</>;
}

function toTokenNote(health: Health | null): string {
  if (!health) return '';
  return health.details.token.expiresInSeconds === null ? 'none at present' : 'left, renewed by itself';
}

const toRoute = (route: string | undefined): string =>
  route === undefined ? '–' : route.startsWith('direct') ? 'direct' : route.startsWith('proxy') ? 'proxy' : 'mixed';

const toRouteNote = (route: string | undefined): string => {
  if (route === undefined) return '';
  return route === 'direct' ? 'no proxy' : route.replace(/^(?:direct|proxy) /, '').replace(/^https?:\/\//, '');
};

function toBankNote(health: Health | null): string {
  if (!health) return '';
  const { circuit, lastSuccessAt } = health.details.bank;
  if (circuit === 'open') return 'waiting to try again';
  if (circuit === 'half-open') return 'being tried again';
  return lastSuccessAt ? 'last answer' : 'no answer yet';
}
