import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { keysQuery } from '../../api/queries.ts';
import type { Keys } from '../../api/types.ts';
import { time } from '../../base/format.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Button, CopyId, ErrorBand } from '../../components/bits/bits.tsx';
import { limitWords } from './data.ts';
import { NewKey } from './key-form.tsx';
import { LimitFields, limitsOf, limitTexts } from './limit-fields.tsx';

type Key = Keys['items'][number];

const PLANES: Readonly<Record<string, string>> = { gateway: 'call engines', run: 'run coding agents', agent: 'talk to agents' };

const and = (names: readonly string[]): string => names.join(names.length === 2 ? ' and ' : ', ');

/** What a key may do, as a sentence. */
function sentence({ scopes, recording, limits, tags, expires_at: ends }: Key): string {
  const planes = scopes.planes?.filter((plane) => plane !== 'gateway') ?? [];
  const calls = scopes.engines === undefined ? 'every engine' : `engines ${and(scopes.engines)}`;
  const held = limitWords(limits);
  return [
    scopes.admin === true ? 'may do everything, settings and keys included' : `may call ${calls}`,
    ...(scopes.models === undefined ? [] : [`models ${and(scopes.models)} only`]),
    ...planes.map((plane) => `may ${PLANES[plane] ?? plane}`),
    ...(scopes.agents === undefined ? [] : [`coding agents ${and(scopes.agents)} only`]),
    ...(scopes.raw === true ? ['may use vendor paths that no dialect has'] : []),
    ...(recording === null ? [] : [`records ${recording === 'digest' ? 'digests' : recording}`]),
    ...(tags.length === 0 ? [] : [`tags its runs ${and(tags)}`]),
    ...(held === '' ? [] : [`at most ${held}`]),
    ...(ends === null ? [] : [`ends ${time(ends)}`]),
  ].join('; ');
}

export function KeySettings(): JSX.Element {
  const client = useQueryClient();
  const keys = useQuery(keysQuery);
  const [secret, setSecret] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: ['keys'] });
  const user = (keys.data?.items ?? []).filter(({ kind }) => kind === 'user');
  return (
    <>
      <ErrorBand error={failure ?? keys.error} />
      <NewKey
        made={(made) => {
          setSecret(made);
          setFailure(null);
          refresh();
        }}
        failed={setFailure}
      />
      {secret === null ? null : (
        <output className="panel secret">
          <b>Shown once:</b> <code className="el">{secret}</code> <CopyId text={secret} />
        </output>
      )}
      {user.length === 0 ? (
        <p className="note">
          {keys.data === undefined ? 'reading the keys' : 'No keys yet. While the server is open to this machine alone, callers need none.'}
        </p>
      ) : (
        <table aria-label="Keys" className="stacks">
          <thead>
            <tr>
              <th>Name</th>
              <th>Begins with</th>
              <th>What it may</th>
              <th>Whose</th>
              <th>Made</th>
              <th>Last used</th>
              <th>
                <span className="sr">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {user.map((key) => (
              <KeyRow key={key.id} item={key} changed={refresh} failed={setFailure} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

interface RowProps {
  readonly item: Key;
  changed(): void;
  failed(error: unknown): void;
}

function KeyRow({ item, changed, failed }: RowProps): JSX.Element {
  const [state, change] = useUrlState();
  // A question that nobody can take back is not one of the address: who follows a link has not asked it.
  const [revoking, setRevoking] = useState(false);
  const limiting = state.limits === item.id;
  const limit = (open: boolean): void => change({ limits: open ? item.id : undefined }, { replace: true });
  const live = item.revoked_at === null && (item.expires_at === null || Date.parse(item.expires_at) > Date.now());
  const done = (work: Promise<unknown>): void => {
    work.then(() => {
      setRevoking(false);
      if (limiting) limit(false);
      changed();
    }, failed);
  };
  return (
    <>
      <tr className={live ? '' : 'over'}>
        <td className="md">
          <Link className="u" to="/runs" search={{ key: item.name }}>
            {item.name}
          </Link>
        </td>
        <td className="m mute">{item.prefix}…</td>
        <td className="wrap">{sentence(item)}</td>
        <td>{[item.user, item.team].filter((name) => name !== null).join(', ')}</td>
        <td className="m mute nw" data-head="made">
          {time(item.created_at)}
        </td>
        <td className="m mute nw" data-head="last used">
          {item.last_used_at === null ? 'never' : time(item.last_used_at)}
        </td>
        <td className="r nw">
          {live ? (
            <>
              <Button small onClick={() => limit(true)}>
                Limits
              </Button>{' '}
              <Button small onClick={() => setRevoking(true)}>
                Revoke
              </Button>
            </>
          ) : (
            <span className="mute">{item.revoked_at === null ? 'ended' : 'revoked'}</span>
          )}
        </td>
      </tr>
      {revoking ? (
        <tr>
          <td colSpan={7} className="asks">
            <span className="row">
              Calls with {item.name} are refused from now on. This cannot be taken back.
              <Button small acts look="primary" onClick={() => done(send('DELETE', `/v1/keys/${item.id}`))}>
                Revoke {item.name}
              </Button>
              <Button small onClick={() => setRevoking(false)}>
                Keep it
              </Button>
            </span>
          </td>
        </tr>
      ) : null}
      {limiting ? (
        <KeyLimits item={item} save={(limits) => done(send('PATCH', `/v1/keys/${item.id}`, { limits }))} close={() => limit(false)} />
      ) : null}
    </>
  );
}

function KeyLimits({ item, save, close }: { readonly item: Key; save(limits: object): void; close(): void }): JSX.Element {
  const [texts, setTexts] = useState(() => limitTexts(item.limits));
  return (
    <tr>
      <td colSpan={7} className="asks">
        <form
          className="row fields"
          onSubmit={(event) => {
            event.preventDefault();
            save(limitsOf(texts));
          }}
        >
          <LimitFields value={texts} change={setTexts} />
          <Button type="submit" acts look="primary">
            Save
          </Button>
          <Button onClick={close}>Cancel</Button>
        </form>
      </td>
    </tr>
  );
}
