import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { OfflineError } from '../../api/client.ts';
import { headQuery, healthQuery, readyQuery, sessionQuery } from '../../api/queries.ts';
import { bytes, waiting, whole } from '../../base/format.ts';
import { useNow } from '../bits/bits.tsx';
import { Icon } from '../icon/icon.tsx';

const WHO: Readonly<Record<string, string>> = {
  console: 'signed in',
  paired: 'paired: read and answer',
  local: 'local caller',
  anonymous: 'not signed in',
};

/** A fault leads to where it is explained. */
function Cell({ good, to, children }: { readonly good: boolean; readonly to: string; readonly children: ReactNode }): JSX.Element {
  return good ? (
    <span>{children}</span>
  ) : (
    <Link to="/settings/$section" params={{ section: to }} className="bad">
      {children}
    </Link>
  );
}

/** Entries that this home had signed are missing, or others stand in their place. */
const CUT: Readonly<Record<string, string>> = { cut: 'chain was cut', 'was-cut': 'chain was cut before this start' };

/** The chain and its head; what happened to it stays said. */
function ChainCell({ state }: { readonly state: string | undefined }): JSX.Element {
  const head = useQuery(headQuery);
  const sequence = head.data?.sequence ?? 0;
  const now = useNow(sequence > 0, 5000);
  const signed = head.data?.at === undefined ? '' : `, head signed ${waiting(now - Date.parse(head.data.at))} ago`;
  const cut = CUT[state ?? ''];
  return (
    <Cell good={cut === undefined} to="trust">
      <span className={cut === undefined && sequence > 0 ? 'ok' : ''}>
        <Icon name={cut === undefined ? 'seal' : 'unsealed'} size={13} /> {cut === undefined ? '' : `${cut}, `}
        {sequence > 0 ? `chain ${whole(sequence)} sealed${signed}` : 'chain is empty'}
      </span>
    </Cell>
  );
}

/** How much is kept, and the space that it takes. */
function RecordingCell(): JSX.Element | null {
  const { data: session } = useQuery(sessionQuery);
  const recording = session?.recording ?? null;
  if (recording === null) return null;
  const { keeps, used_bytes: used, max_bytes: most } = recording;
  return (
    <span className="keeps">
      recording {keeps}
      {used === null ? `, up to ${bytes(most)}` : `, ${bytes(used)} of ${bytes(most)}`}
    </span>
  );
}

/** The way back goes into a cookie, which has not room for everything. */
const LONGEST_SEARCH = 1000;

/** Who the server takes this browser for, and the way to sign in where there is one. */
function Who(): JSX.Element {
  const { data: session } = useQuery(sessionQuery);
  const { pathname, searchStr } = useRouterState({ select: (state) => state.location });
  const place = searchStr.length < LONGEST_SEARCH ? pathname + searchStr : pathname;
  const name =
    (session?.principal === 'paired' && session.user !== null ? `paired: answers for ${session.user}` : session?.user) ??
    WHO[session?.principal ?? ''] ??
    session?.principal ??
    '';
  const isNobody = session?.principal === 'anonymous' || session?.principal === 'local';
  if (!isNobody || session.sign_in === null) return <span>{name}</span>;
  return (
    <span>
      {name} · <a href={`${session.sign_in}?return_to=${encodeURIComponent(place)}`}>Sign in</a>
    </span>
  );
}

/** What holds at this moment. A fault turns its cell vermilion and leads to where it is explained. */
export function StatusLine(): JSX.Element {
  const ready = useQuery(readyQuery);
  const health = useQuery(healthQuery);
  const offline = ready.error instanceof OfflineError;
  const state = ready.data;
  return (
    <footer className="foot">
      {offline ? (
        <span className="bad" role="status">
          <i className="dot bad" /> the server cannot be reached
        </span>
      ) : (
        <span>
          <i className={state?.status === 'ready' ? 'dot ok' : 'dot warn'} /> {state?.status ?? 'asking'}
        </span>
      )}
      <span className="m">{location.host}</span>
      {state === undefined ? null : (
        <>
          <Cell good={state.database === 'ok'} to="trust">{`database ${state.database}`}</Cell>
          <Cell good={state.journal === 'ok'} to="trust">{`journal ${state.journal}`}</Cell>
          {state.bucket === 'away' ? (
            <Cell good={false} to="recording">
              bucket away
            </Cell>
          ) : null}
        </>
      )}
      <ChainCell state={state?.chain} />
      <span className="sp" />
      <RecordingCell />
      <Who />
      <span>{health.data?.version ?? ''}</span>
    </footer>
  );
}
