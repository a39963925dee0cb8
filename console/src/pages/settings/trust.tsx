import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import type { ChainVerification } from '../../../../src/contract/receipts/chain-verification.ts';
import { get, send, withQuery } from '../../api/client.ts';
import { headQuery, sealKeysQuery } from '../../api/queries.ts';
import type { Browsers } from '../../api/types.ts';
import { time, whole } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, Locked } from '../../components/bits/bits.tsx';
import { Pairing } from '../../components/pairing/pairing.tsx';

export function Trust({ may }: { readonly may: boolean }): JSX.Element {
  const keys = useQuery(sealKeysQuery);
  const head = useQuery(headQuery);
  return (
    <>
      <h2>Public keys</h2>
      <p className="note">Note them somewhere else: with them you can tell later that the chain is still yours.</p>
      <table aria-label="Public keys" className="stacks">
        <tbody>
          {(keys.data?.items ?? []).map(({ id, public_key }) => (
            <tr key={id} className="m">
              <td className="md">{id}</td>
              <td className="long">{public_key}</td>
              <td>
                <CopyId text={public_key} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {may ? <Rotate /> : null}
      <h2>Head</h2>
      <p className="m long">
        {head.data === undefined ? 'nothing is sealed yet' : `entry ${whole(head.data.sequence)}, ${head.data.hash}`}
        {head.data === undefined ? null : <CopyId text={JSON.stringify(head.data)} />}
      </p>
      <h2>The whole chain</h2>
      {may ? <VerifyAll last={head.data?.sequence ?? 0} /> : <Locked what="Verifying all entries" />}
      <p className="note">
        A head that you kept elsewhere settles the tail: <code>abp receipts verify --all --head FILE</code>.
      </p>
      <h2>Signed-in browsers</h2>
      {may ? <SignedIn /> : <Locked what="Seeing who is signed in" />}
    </>
  );
}

/** Signs with a new key from now on. The old one stays published, because it signed what is there. */
function Rotate(): JSX.Element {
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const rotate = (): void => {
    send('POST', '/v1/receipts/keys/rotate').then(() => {
      setAsked(false);
      void client.invalidateQueries({ queryKey: ['seal-keys'] });
    }, setFailure);
  };
  return (
    <div className="row new">
      <ErrorBand error={failure} />
      {asked ? (
        <>
          <span className="note">Both keys sign the change; receipts so far keep the old one.</span>
          <Button acts look="primary" onClick={rotate}>
            Sign with a new key
          </Button>
          <Button onClick={() => setAsked(false)}>Keep this key</Button>
        </>
      ) : (
        <Button onClick={() => setAsked(true)}>Change the key</Button>
      )}
    </div>
  );
}

/** So many entries are checked at once; the bar moves between them. */
const PIECE = 2000;

interface Progress {
  readonly checked: number;
  readonly problems: ChainVerification['problems'];
  readonly done: boolean;
}

/** Checks every entry as the database holds it, piece by piece. */
function VerifyAll({ last }: { readonly last: number }): JSX.Element {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const verify = async (): Promise<void> => {
    let problems: ChainVerification['problems'] = [];
    setFailure(null);
    for (let from = 1; from <= last; from += PIECE) {
      const to = Math.min(last, from + PIECE - 1);
      // The last piece goes to the end, so that the tail is looked at, too.
      const found = await get<ChainVerification>(withQuery('/v1/receipts/verify', { from, to: to === last ? undefined : to }));
      problems = [...problems, ...found.problems];
      setProgress({ checked: to, problems, done: to === last });
    }
  };
  return (
    <>
      <ErrorBand error={failure} />
      <div className="row new">
        <Button acts icon="seal" onClick={() => void verify().catch(setFailure)} disabled={last === 0 || progress?.done === false}>
          Verify all
        </Button>
        {progress === null ? null : (
          <>
            <progress max={last} value={progress.checked} aria-label="entries checked" />
            <output className={progress.problems.length > 0 ? 'bad' : progress.done ? 'ok' : 'mute'}>
              {progress.problems.length > 0
                ? `${progress.problems.length} problems in ${whole(progress.checked)} entries`
                : progress.done
                  ? `all ${whole(progress.checked)} entries verify`
                  : `${whole(progress.checked)} of ${whole(last)}`}
            </output>
          </>
        )}
      </div>
      {progress === null || progress.problems.length === 0 ? null : (
        <ul className="problems">
          {progress.problems.map(({ code, sequence, message }) => (
            <li key={`${code} ${sequence} ${message}`} className="bad s">
              <b className="m">{code}</b> {sequence === undefined ? '' : `entry ${whole(sequence)}: `}
              {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const BROWSERS = [
  ['Edge', /Edg\/(\d+)/],
  ['Firefox', /Firefox\/(\d+)/],
  ['Chrome', /(?:Headless)?Chrome\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
] as const;
const SYSTEMS = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['macOS', /Mac OS X/],
  ['Windows', /Windows/],
  ['Linux', /Linux/],
] as const;

/** How a browser calls itself, in few words: `Chrome 147 on Linux`. One that is not known is told as it is. */
function browserWords(label: string): string {
  const [browser, found] =
    BROWSERS.map(([name, pattern]) => [name, pattern.exec(label)?.[1]] as const).find(([, version]) => version) ?? [];
  const [system] = SYSTEMS.find(([, pattern]) => pattern.test(label)) ?? [];
  return browser === undefined ? label : `${browser} ${found}${system === undefined ? '' : ` on ${system}`}`;
}

function SignedIn(): JSX.Element {
  const client = useQueryClient();
  const browsers = useQuery({ queryKey: ['browsers'], queryFn: () => get<Browsers>('/v1/console/browsers'), retry: false });
  const [failure, setFailure] = useState<unknown>(null);
  const signOut = (id: string): void => {
    send('DELETE', `/v1/console/browsers/${id}`).then(() => client.invalidateQueries(), setFailure);
  };
  return (
    <>
      <ErrorBand error={failure ?? browsers.error} />
      <table aria-label="Signed-in browsers" className="stacks">
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
          {(browsers.data?.items ?? []).map(({ id, label, current, scopes, user, created_at, expires_at }) => (
            <tr key={id}>
              <td className="el browser" title={label}>
                {browserWords(label)} {current ? <span className="tag">this browser</span> : null}
              </td>
              <td>{scopes.includes('all') ? 'everything' : user === null ? 'read and answer' : `read and answer for ${user}`}</td>
              <td className="m" data-head="since">
                {time(created_at)}
              </td>
              <td className="m" data-head="until">
                {time(expires_at)}
              </td>
              <td className="r">
                <Button small acts onClick={() => signOut(id)}>
                  Sign out
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Let a phone in</h2>
      <Pairing />
    </>
  );
}
