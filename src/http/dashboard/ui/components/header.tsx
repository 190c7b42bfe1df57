// The slim header: name, version, state of the live stream, and the views.

import type { ComponentChildren } from 'preact';
import { overviewPlace, type Place, queuesPlace } from '../url-state.ts';
import { formatAge } from '../words/format.ts';
import { Link } from './link.tsx';
import { useStore, useWallNow } from './page-context.ts';

export function Header({ place }: { readonly place: Place }) {
  const { facts } = useStore('health');
  return (
    <header>
      <Link to={overviewPlace} class="brand">
        TrueMQ
      </Link>
      <span class="version">{facts?.serverVersion ?? '\u00a0'}</span>
      <nav aria-label="Views">
        <NavLink to={overviewPlace} isCurrent={place.view === 'overview'}>
          Overview
        </NavLink>
        <NavLink to={queuesPlace} isCurrent={place.view === 'queues'}>
          Queues
        </NavLink>
        {place.view === 'queue' && (
          <NavLink to={{ view: 'queue', queue: place.queue, offset: 0 }} isCurrent>
            {place.queue}
          </NavLink>
        )}
      </nav>
      <LiveState />
    </header>
  );
}

type NavLinkProps = { readonly to: Place; readonly isCurrent: boolean; readonly children: ComponentChildren };

function NavLink({ to, isCurrent, children }: NavLinkProps) {
  return (
    <Link to={to} {...(isCurrent ? { 'aria-current': 'page' as const } : {})}>
      {children}
    </Link>
  );
}

function LiveState() {
  const { phase } = useStore('phase');
  if (phase === 'lost') return <LostState />;
  const isLive = phase === 'live';
  return <span class={isLive ? 'live-state live' : 'live-state'}>{isLive ? 'Live' : 'Connecting …'}</span>;
}

function LostState() {
  const { seenAt, refusal } = useStore('phase');
  const now = useWallNow();
  const seen = seenAt === 0 ? undefined : `last seen ${formatAge(now - seenAt)} ago`;
  if (refusal !== undefined)
    return <span class="live-state lost">Refused{seen === undefined ? '' : `, ${seen}`}</span>;
  return <span class="live-state lost">Disconnected, {seen ?? 'no answer yet'}; reconnecting</span>;
}
