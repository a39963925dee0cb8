import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { usersQuery } from '../../api/queries.ts';
import { Button, Select } from '../../components/bits/bits.tsx';
import { teamsQuery, words } from './data.ts';
import { LimitFields, limitsOf, NO_LIMITS } from './limit-fields.tsx';

const DAYS = ['', '1', '30', '90', '365'].map((days) => [days, days === '' ? 'never ends' : `ends in ${days} days`] as const);
const RECORDINGS = [
  ['', 'records as the server does'],
  ['full', 'records everything'],
  ['digest', 'records digests'],
  ['off', 'records nothing'],
] as const;

const EMPTY = {
  name: '',
  engines: '',
  models: '',
  tags: '',
  user: '',
  team: '',
  recording: '',
  days: '30',
  runs: false,
  agents: false,
  admin: false,
  limits: NO_LIMITS,
};
type Form = typeof EMPTY;

/** The key as the server takes it; what is left empty is left out. */
function bodyOf({ name, engines, models, tags, user, team, recording, days, runs, agents, admin, limits }: Form): object {
  const planes = ['gateway', ...(runs ? ['run'] : []), ...(agents ? ['agent'] : [])];
  return {
    name: name.trim(),
    scopes: {
      ...(admin ? { admin } : {}),
      ...(planes.length === 1 ? {} : { planes }),
      ...(words(engines).length === 0 ? {} : { engines: words(engines) }),
      ...(words(models).length === 0 ? {} : { models: words(models) }),
    },
    tags: words(tags),
    limits: limitsOf(limits),
    ...(recording === '' ? {} : { recording }),
    ...(user === '' ? {} : { user }),
    ...(team === '' ? {} : { team }),
    ...(days === '' ? {} : { expires_in_s: Number(days) * 86_400 }),
  };
}

/** Makes a key. The usual things stand open, the rest behind one line. */
export function NewKey({ made, failed }: { made(secret: string): void; failed(error: unknown): void }): JSX.Element {
  const [form, setForm] = useState(EMPTY);
  const set = (next: Partial<Form>): void => setForm({ ...form, ...next });
  const make = (): void => {
    send<{ secret: string }>('POST', '/v1/keys', bodyOf(form)).then(({ secret }) => {
      setForm(EMPTY);
      made(secret);
    }, failed);
  };
  const text = (name: 'name' | 'engines', label: string, placeholder: string): JSX.Element => (
    <input aria-label={label} placeholder={placeholder} value={form[name]} onChange={(event) => set({ [name]: event.target.value })} />
  );
  return (
    <form
      className="new"
      aria-label="A new key"
      onSubmit={(event) => {
        event.preventDefault();
        if (form.name.trim() !== '') make();
      }}
    >
      <div className="row">
        {text('name', 'Name of the key', 'Name, such as docs-team')}
        {text('engines', 'Engines', 'engines, empty for all')}
        <Select label="End" value={form.days} onChange={(days) => set({ days })} options={DAYS} />
        <Button type="submit" icon="plus" disabled={form.name.trim() === ''} acts>
          New key
        </Button>
      </div>
      <details>
        <summary>Rights, limits, owner</summary>
        <More form={form} set={set} />
      </details>
    </form>
  );
}

function More({ form, set }: { readonly form: Form; set(next: Partial<Form>): void }): JSX.Element {
  const users = useQuery(usersQuery);
  const teams = useQuery(teamsQuery);
  const check = (name: 'runs' | 'agents' | 'admin', label: string): JSX.Element => (
    <label className="row">
      <input type="checkbox" checked={form[name]} onChange={(event) => set({ [name]: event.target.checked })} /> {label}
    </label>
  );
  const field = (name: 'models' | 'tags', label: string, placeholder: string): JSX.Element => (
    <label className="field">
      {label}
      <input className="m" placeholder={placeholder} value={form[name]} onChange={(event) => set({ [name]: event.target.value })} />
    </label>
  );
  return (
    <div className="row fields">
      {field('models', 'models', 'all, or claude-*')}
      {field('tags', 'tags of its runs', 'team-blue')}
      <LimitFields value={form.limits} change={(limits) => set({ limits })} />
      <Select label="Recording" value={form.recording} onChange={(recording) => set({ recording })} options={RECORDINGS} />
      <Select
        label="User"
        value={form.user}
        onChange={(user) => set({ user })}
        options={[['', 'nobody’s key'], ...(users.data?.items ?? []).map(({ id, name }) => [id, name] as const)]}
      />
      <Select
        label="Team"
        value={form.team}
        onChange={(team) => set({ team })}
        options={[['', 'of no team'], ...(teams.data?.items ?? []).map(({ id, name }) => [id, name] as const)]}
      />
      {check('runs', 'may run coding agents')}
      {check('agents', 'may talk to agents')}
      {check('admin', 'may do everything')}
    </div>
  );
}
