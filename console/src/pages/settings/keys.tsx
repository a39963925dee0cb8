import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { keysQuery } from '../../api/queries.ts';
import type { Keys } from '../../api/types.ts';
import { time } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, Select } from '../../components/bits/bits.tsx';

type Key = Keys['items'][number];

/** What a key may do, as a sentence. */
function sentence({ scopes, recording, expires_at }: Key): string {
  const parts = [
    scopes.admin === true
      ? 'may do everything'
      : `may call ${scopes.engines === undefined ? 'every engine' : `engines ${scopes.engines.join(' and ')}`}`,
    ...(scopes.planes?.includes('run') === true ? ['may run coding agents'] : []),
    ...(scopes.models === undefined ? [] : [`models ${scopes.models.join(', ')}`]),
    ...(recording === null ? [] : [`records ${recording}`]),
    ...(expires_at === null ? [] : [`ends ${time(expires_at)}`]),
  ];
  return parts.join('; ');
}

export function KeySettings(): JSX.Element {
  const client = useQueryClient();
  const keys = useQuery(keysQuery);
  const [secret, setSecret] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: ['keys'] });
  const revoke = (id: string): void => {
    send('DELETE', `/v1/keys/${id}`).then(refresh, setFailure);
  };
  const user = (keys.data?.items ?? []).filter(({ kind }) => kind === 'user');
  return (
    <>
      <ErrorBand error={failure ?? keys.error} />
      <NewKey
        made={(made) => {
          setSecret(made);
          refresh();
        }}
        failed={setFailure}
      />
      {secret === null ? null : (
        <output className="panel secret">
          <b>Shown once:</b> <code className="el">{secret}</code> <CopyId text={secret} />
        </output>
      )}
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Begins with</th>
            <th>What it may</th>
            <th>Made</th>
            <th>
              <span className="sr">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {user.map((key) => (
            <tr key={key.id}>
              <td className="md">{key.name}</td>
              <td className="m mute">{key.prefix}…</td>
              <td>{sentence(key)}</td>
              <td className="m mute">{time(key.created_at)}</td>
              <td className="r">
                {key.revoked_at === null ? (
                  <Button small onClick={() => revoke(key.id)}>
                    Revoke
                  </Button>
                ) : (
                  <span className="mute">revoked</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {user.length === 0 ? <p className="note">No keys yet. While the server is open to this machine alone, callers need none.</p> : null}
    </>
  );
}

const DAYS = ['', '1', '30', '90'].map((days) => [days, days === '' ? 'never ends' : `ends in ${days} days`] as const);

function NewKey({ made, failed }: { made(secret: string): void; failed(error: unknown): void }): JSX.Element {
  const [name, setName] = useState('');
  const [engines, setEngines] = useState('');
  const [days, setDays] = useState('30');
  const make = (): void => {
    const list = engines.split(/[\s,]+/).filter(Boolean);
    send<{ secret: string }>('POST', '/v1/keys', {
      name,
      scopes: list.length === 0 ? {} : { engines: list },
      ...(days === '' ? {} : { expires_in_s: Number(days) * 86_400 }),
    }).then(({ secret }) => {
      setName('');
      made(secret);
    }, failed);
  };
  return (
    <form
      className="row new"
      onSubmit={(event) => {
        event.preventDefault();
        if (name !== '') make();
      }}
    >
      <input
        aria-label="Name of the key"
        placeholder="Name, such as docs-team"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <input
        aria-label="Engines"
        placeholder="engines, empty for all"
        value={engines}
        onChange={(event) => setEngines(event.target.value)}
      />
      <Select label="End" value={days} onChange={setDays} options={DAYS} />
      <Button type="submit" icon="plus" disabled={name === ''}>
        New key
      </Button>
    </form>
  );
}
