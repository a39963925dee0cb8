import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { usersQuery } from '../../api/queries.ts';
import { day } from '../../base/format.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { limitWords, teamsQuery, words } from './data.ts';
import { LimitFields, limitsOf, NO_LIMITS } from './limit-fields.tsx';

/** Users and teams: whose keys are whose, and what teams are held to. */
export function People(): JSX.Element {
  const client = useQueryClient();
  const [failure, setFailure] = useState<unknown>(null);
  const act = (work: Promise<unknown>): void => {
    work.then(() => {
      setFailure(null);
      for (const queryKey of [['users'], ['teams'], ['keys']]) void client.invalidateQueries({ queryKey });
    }, setFailure);
  };
  return (
    <>
      <ErrorBand error={failure} />
      <Teams act={act} />
      <Users act={act} />
    </>
  );
}

type Act = (work: Promise<unknown>) => void;

function Teams({ act }: { readonly act: Act }): JSX.Element {
  const teams = useQuery(teamsQuery);
  const [id, setId] = useState('');
  const [limits, setLimits] = useState(NO_LIMITS);
  return (
    <>
      <h2>Teams</h2>
      <ErrorBand error={teams.error} />
      <form
        className="row fields new"
        aria-label="A new team"
        onSubmit={(event) => {
          event.preventDefault();
          act(send('POST', '/v1/teams', { id: id.trim(), limits: limitsOf(limits) }));
          setId('');
          setLimits(NO_LIMITS);
        }}
      >
        <label className="field">
          team
          <input placeholder="docs" value={id} onChange={(event) => setId(event.target.value)} />
        </label>
        <LimitFields value={limits} change={setLimits} />
        <Button type="submit" acts icon="plus" disabled={id.trim() === ''}>
          New team
        </Button>
      </form>
      {teams.data === undefined || teams.data.items.length === 0 ? (
        <p className="note">{teams.data === undefined ? '' : 'No teams. A team’s limits hold all its keys together.'}</p>
      ) : (
        <table aria-label="Teams" className="stacks">
          <thead>
            <tr>
              <th>Team</th>
              <th>Members</th>
              <th>Held to</th>
              <th>Since</th>
              <th>
                <span className="sr">Delete</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {teams.data.items.map((team) => (
              <tr key={team.id}>
                <td className="md">{team.name}</td>
                <td>{team.members.join(', ')}</td>
                <td>{limitWords(team.limits) || <span className="mute">no limits of its own</span>}</td>
                <td className="m mute">{day(team.created_at)}</td>
                <td className="r">
                  <Sure
                    what={`Delete ${team.id}`}
                    note="Keys that were given to it are revoked and its budgets deleted; its users and their keys stay."
                    act={() => act(send('DELETE', `/v1/teams/${encodeURIComponent(team.id)}?force=true`))}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Users({ act }: { readonly act: Act }): JSX.Element {
  const users = useQuery(usersQuery);
  const [form, setForm] = useState({ id: '', name: '', teams: '' });
  const field = (name: keyof typeof form, label: string, placeholder: string): JSX.Element => (
    <label className="field">
      {label}
      <input placeholder={placeholder} value={form[name]} onChange={(event) => setForm({ ...form, [name]: event.target.value })} />
    </label>
  );
  return (
    <>
      <h2>Users</h2>
      <ErrorBand error={users.error} />
      <form
        className="row fields new"
        aria-label="A new user"
        onSubmit={(event) => {
          event.preventDefault();
          const { id, name, teams } = form;
          act(send('POST', '/v1/users', { id: id.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }), teams: words(teams) }));
          setForm({ id: '', name: '', teams: '' });
        }}
      >
        {field('id', 'user', 'ann@example.com')}
        {field('name', 'in words', 'Ann')}
        {field('teams', 'teams', 'docs')}
        <Button type="submit" acts icon="plus" disabled={form.id.trim() === ''}>
          New user
        </Button>
      </form>
      {users.data === undefined || users.data.items.length === 0 ? null : (
        <table aria-label="Users" className="stacks">
          <thead>
            <tr>
              <th>User</th>
              <th>Name</th>
              <th>Teams</th>
              <th>Since</th>
              <th>
                <span className="sr">Delete</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {users.data.items.map((user) => (
              <tr key={user.id}>
                <td className="md">{user.id}</td>
                <td>{user.name}</td>
                <td>{user.teams.join(', ')}</td>
                <td className="m mute">{day(user.created_at)}</td>
                <td className="r">
                  <Sure
                    what={`Delete ${user.id}`}
                    note="All keys of the user are revoked."
                    act={() => act(send('DELETE', `/v1/users/${encodeURIComponent(user.id)}`))}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** A deed that cannot be taken back says so before the second click. */
export function Sure({ what, note, act }: { readonly what: string; readonly note: string; act(): void }): JSX.Element {
  const [asked, setAsked] = useState(false);
  if (!asked) {
    return (
      <Button small icon="x" onClick={() => setAsked(true)} aria-label={what}>
        Delete
      </Button>
    );
  }
  return (
    <span className="row end">
      <span className="mute s">{note}</span>
      <Button small acts look="primary" onClick={act}>
        {what}
      </Button>
      <Button small onClick={() => setAsked(false)}>
        Keep
      </Button>
    </span>
  );
}
