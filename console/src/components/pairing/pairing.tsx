import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { sessionQuery, usersQuery } from '../../api/queries.ts';
import type { Paired } from '../../api/types.ts';
import { waiting } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, Locked, Select, useNow } from '../bits/bits.tsx';
import { Qr } from '../qr/qr.tsx';
import './pairing.css';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Lets a phone in: to read and to answer, for twelve hours. */
export function Pairing(): JSX.Element {
  const session = useQuery(sessionQuery);
  const [pairing, setPairing] = useState<Paired | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [user, setUser] = useState('');
  const may = session.data?.scopes.includes('settings') === true;
  const users = useQuery({ ...usersQuery, enabled: may }).data?.items ?? [];
  const pair = (): void => {
    send<Paired>('POST', '/v1/console/pairings', { scopes: ['answer'], ttl_s: 600, ...(user === '' ? {} : { user }) }).then(
      setPairing,
      setFailure,
    );
  };
  const url = pairing === null ? '' : `${location.origin}/inbox#code=${pairing.code}`;
  const until = useNow(pairing !== null);
  const over = pairing !== null && Date.parse(pairing.expires_at) <= until;
  return (
    <section className="pairing" aria-label="Answer from a phone">
      <ErrorBand error={failure} />
      {may ? null : <Locked what="Letting a phone in" />}
      {may && (pairing === null || over) ? (
        <div>
          {over ? <p className="note warn">The code has run out.</p> : null}
          <div className="row">
            <Button acts onClick={pair}>
              Make a link for a phone
            </Button>
            {users.length === 0 ? null : (
              <Select
                label="Whose questions it answers"
                value={user}
                options={[['', 'for everybody’s questions'], ...users.map(({ id }) => [id, `for those of ${id}`] as const)]}
                onChange={setUser}
              />
            )}
          </div>
        </div>
      ) : null}
      {pairing === null || over ? null : (
        <div>
          <p className="note">
            Lets one browser in, once, within {waiting(Date.parse(pairing.expires_at) - until)}, to read and to answer
            {user === '' ? '' : ` what ${user} is asked`} for 12 hours. Settings, trust signs it out.
          </p>
          <Qr text={url} />
          <div className="row">
            <code className="el grow">{url}</code>
            <CopyId text={url} />
          </div>
          {LOOPBACK.has(location.hostname) ? (
            <p className="note warn">
              A phone cannot reach {location.hostname}. Bind the server beyond this machine with TLS (server.host, server.cert_file,
              server.key_file) or behind a proxy (server.trust_proxy).
            </p>
          ) : null}
        </div>
      )}
    </section>
  );
}
