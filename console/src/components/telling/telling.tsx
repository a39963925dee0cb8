import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useEffect, useState } from 'react';
import { beginTelling, closeNotes, endTelling, type Telling as State, tellingQuery } from '../../api/push.ts';
import { sessionQuery, useOffline } from '../../api/queries.ts';
import type { Session } from '../../api/types.ts';
import { time } from '../../base/format.ts';
import { ErrorBand } from '../bits/bits.tsx';
import './telling.css';

const PHONE = matchMedia('(pointer: coarse), (max-width: 720px)');

/** Why it is as it is. Nothing that cannot be switched is a riddle. */
function words(state: State, end: string | null): JSX.Element {
  const until = end === null ? '' : ` until this sign-in ends, ${time(end)}`;
  switch (state) {
    case 'operator':
      return (
        <>
          The operator of this server has not switched it on: <code>web_push = true</code> under <code>[console]</code>.
        </>
      );
    case 'nobody':
      return (
        <>
          Only a paired or signed-in browser is told: <code>abp console</code> prints a link.
        </>
      );
    case 'insecure':
      return <>Browsers are told on https alone; this page came over http.</>;
    case 'unsupported':
      return <>This browser cannot be told. On an iPhone it can once the page is on the home screen.</>;
    case 'denied':
      return <>This browser does not let this page notify you. Its settings for this site change that.</>;
    case 'off':
      return <>It says how many wait and nothing of what they ask, by the push service of the browser’s vendor,{until}.</>;
    case 'on':
      return <>On{until}.</>;
  }
}

/** The switch that has this browser told when something waits. */
function Switch({ session }: { readonly session: Session }): JSX.Element | null {
  const client = useQueryClient();
  const offline = useOffline();
  const state = useQuery(tellingQuery(session));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    // A note that the browser cannot list is one that nobody sees either.
    closeNotes().catch(() => undefined);
  }, []);
  const toggle = (): void => {
    setBusy(true);
    setFailure(null);
    (state.data === 'on' ? endTelling() : beginTelling())
      .catch(setFailure)
      .then(() => client.invalidateQueries({ queryKey: ['telling'] }))
      .finally(() => setBusy(false));
  };
  if (state.data === undefined) return state.error === null ? null : <ErrorBand error={state.error} />;
  const can = state.data === 'on' || state.data === 'off';
  return (
    <section className="telling" aria-label="Being told">
      <ErrorBand error={failure} />
      <div className="line">
        <button
          type="button"
          role="switch"
          aria-checked={state.data === 'on'}
          aria-labelledby="telling-what"
          aria-describedby="telling-why"
          disabled={!can || busy || offline !== undefined}
          onClick={toggle}
        >
          <i aria-hidden="true" />
        </button>
        <div>
          <b id="telling-what">Tell this {PHONE.matches ? 'phone' : 'browser'} when something waits</b>
          <p id="telling-why" className="note">
            {offline ?? words(state.data, session.expires_at)}
          </p>
        </div>
      </div>
    </section>
  );
}

export function Telling(): JSX.Element | null {
  const { data: session } = useQuery(sessionQuery);
  return session === undefined ? null : <Switch session={session} />;
}
