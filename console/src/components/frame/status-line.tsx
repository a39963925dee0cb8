import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import type { JSX } from 'react';
import { OfflineError } from '../../api/client.ts';
import { headQuery, healthQuery, readyQuery, sessionQuery, settingsQuery } from '../../api/queries.ts';
import { bytes, waiting, whole } from '../../base/format.ts';
import { useNow } from '../bits/bits.tsx';
import { Icon } from '../icon/icon.tsx';

const WHO: Readonly<Record<string, string>> = {
  console: 'signed in',
  paired: 'paired: read and answer',
  local: 'local caller',
  anonymous: 'not signed in',
};

function Cell({ good, children }: { readonly good: boolean; readonly children: string }): JSX.Element {
  return good ? (
    <span>{children}</span>
  ) : (
    <Link to="/settings" className="bad">
      {children}
    </Link>
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
  const head = useQuery(headQuery);
  const session = useQuery(sessionQuery);
  const offline = ready.error instanceof OfflineError;
  const state = ready.data;
  const sequence = head.data?.sequence ?? 0;
  const now = useNow(sequence > 0, 5000);
  const signed = head.data?.at === undefined ? '' : `, head signed ${waiting(now - Date.parse(head.data.at))} ago`;
  const may = session.data?.scopes.includes('settings') === true;
  const settings = useQuery({ ...settingsQuery, enabled: may });
  const settingOf = (wanted: string): unknown => settings.data?.values.find(({ path }) => path === wanted)?.value;
  const [recording, most] = [settingOf('recording.default'), settingOf('recording.max_mb')];
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
      {state === undefined ? null : <Cell good={state.database === 'ok'}>{`database ${state.database}`}</Cell>}
      {state === undefined ? null : <Cell good={state.journal === 'ok'}>{`journal ${state.journal}`}</Cell>}
      <span className={sequence > 0 ? 'ok' : ''}>
        <Icon name="seal" size={13} /> {sequence > 0 ? `chain ${whole(sequence)} sealed${signed}` : 'chain is empty'}
      </span>
      <span className="sp" />
      {typeof recording === 'string' ? (
        <span>
          recording {recording}
          {recording === 'full' && typeof most === 'number' ? `, up to ${bytes(most * 1024 * 1024)}` : ''}
        </span>
      ) : null}
      <Who />
      <span>{health.data?.version ?? ''}</span>
    </footer>
  );
}
