import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { get, send } from '../../api/client.ts';
import { headQuery } from '../../api/queries.ts';
import type { Browsers, Paired } from '../../api/types.ts';
import { time, whole } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, Locked } from '../../components/bits/bits.tsx';

interface SealKeys {
  readonly items: readonly { readonly id: string; readonly public_key: string; readonly retired_at?: string | null }[];
}

export function Trust({ may }: { readonly may: boolean }): JSX.Element {
  const keys = useQuery({ queryKey: ['seal-keys'], queryFn: () => get<SealKeys>('/v1/receipts/keys'), staleTime: 60_000 });
  const head = useQuery(headQuery);
  return (
    <>
      <h2>Public keys</h2>
      <p className="note">Note them somewhere else: with them you can tell later that the chain is still yours.</p>
      <table>
        <tbody>
          {(keys.data?.items ?? []).map(({ id, public_key }) => (
            <tr key={id} className="m">
              <td className="md">{id}</td>
              <td>{public_key}</td>
              <td>
                <CopyId text={public_key} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Head</h2>
      <p className="m">
        {head.data === undefined ? 'nothing is sealed yet' : `entry ${whole(head.data.sequence)}, ${head.data.hash}`}
        {head.data === undefined ? null : <CopyId text={JSON.stringify(head.data)} />}
      </p>
      <p className="note">
        <code>abp receipt verify --all</code> checks every entry; a head that you kept elsewhere settles the tail (<code>--head</code>).
      </p>
      <h2>Signed-in browsers</h2>
      {may ? <SignedIn /> : <Locked what="Seeing who is signed in" />}
    </>
  );
}

function SignedIn(): JSX.Element {
  const client = useQueryClient();
  const browsers = useQuery({ queryKey: ['browsers'], queryFn: () => get<Browsers>('/v1/console/browsers'), retry: false });
  const [pairing, setPairing] = useState<Paired | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const signOut = (id: string): void => {
    send('DELETE', `/v1/console/browsers/${id}`).then(() => client.invalidateQueries(), setFailure);
  };
  const pair = (): void => {
    send<Paired>('POST', '/v1/console/pairings', { scopes: ['answer'], ttl_s: 600 }).then(setPairing, setFailure);
  };
  return (
    <>
      <ErrorBand error={failure ?? browsers.error} />
      <table>
        <thead>
          <tr>
            <th>Browser</th>
            <th>May</th>
            <th>Since</th>
            <th>Until</th>
            <th>
              <span className="sr">Sign out</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(browsers.data?.items ?? []).map(({ id, label, scopes, created_at, expires_at }) => (
            <tr key={id}>
              <td className="el browser" title={label}>
                {label}
              </td>
              <td>{scopes.includes('all') ? 'everything' : 'read and answer'}</td>
              <td className="m">{time(created_at)}</td>
              <td className="m">{time(expires_at)}</td>
              <td className="r">
                <Button small onClick={() => signOut(id)}>
                  Sign out
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row new">
        <Button onClick={pair}>Pair a phone</Button>
        {pairing === null ? null : (
          <>
            <code className="el">{`${location.origin}/inbox#code=${pairing.code}`}</code>
            <CopyId text={`${location.origin}/inbox#code=${pairing.code}`} />
          </>
        )}
      </div>
    </>
  );
}
