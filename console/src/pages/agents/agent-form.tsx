import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import type { AgentView } from '../../api/types.ts';
import { Button, ErrorBand, Select } from '../../components/bits/bits.tsx';
import { Picked, Picker } from './capability-picker.tsx';
import { type Draft, draftOf, draftQuery, openSession, saveAgent } from './data.ts';
import { Preview } from './preview.tsx';

const EMPTY: Draft = { name: '', model: '', prompt: '', conflicts: 'error', capabilities: [] };

const TEMPLATES: readonly {
  readonly name: string;
  readonly about: string;
  readonly prompt: string;
  readonly capabilities: readonly string[];
}[] = [
  {
    name: 'clerk',
    about: 'answers briefly and knows the time',
    prompt: 'You answer briefly and say what you do not know.',
    capabilities: ['current_time'],
  },
  {
    name: 'researcher',
    about: 'finds things out and keeps notes',
    prompt: 'You find things out and cite what you read.',
    capabilities: ['research', 'current_time'],
  },
  {
    name: 'scribe',
    about: 'works with files of its session',
    prompt: 'You keep notes in files and answer from them.',
    capabilities: ['file_system'],
  },
];

const CONFLICTS = [
  ['error', 'are refused'],
  ['prefix', 'are prefixed with their capability'],
  ['prefer', 'the first one wins'],
] as const;

interface FormProps {
  /** The agent to change; undefined for a new one. */
  readonly agent: AgentView | undefined;
  /** There is no agent yet. */
  readonly first: boolean;
  close(): void;
}

/** Makes or changes an agent. The server says as you pick what it would be; a list that cannot be put together is not saved. */
export function AgentForm({ agent, first, close }: FormProps): JSX.Element {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(() => (agent === undefined ? EMPTY : draftOf(agent)));
  const [failure, setFailure] = useState<unknown>(null);
  const preview = useQuery(draftQuery(draft));
  const set = (next: Partial<Draft>): void => setDraft({ ...draft, ...next });
  const refused = preview.data?.error ?? null;
  const save = async (): Promise<void> => {
    const id = await saveAgent(draft, agent);
    for (const queryKey of [['agents'], ['preview'], ['agent-file']]) await client.invalidateQueries({ queryKey });
    const params = { agent: id, session: agent === undefined ? await openSession(id) : '' };
    close();
    if (agent === undefined) await navigate({ to: '/agents/$agent/sessions/$session', params });
  };
  return (
    <>
      <form
        className="agent-form scroll"
        aria-label={agent === undefined ? 'A new agent' : `Change ${agent.name}`}
        onSubmit={(event) => {
          event.preventDefault();
          save().catch(setFailure);
        }}
      >
        <h2>{agent !== undefined ? `Change ${agent.name}` : first ? 'Make the first agent' : 'A new agent'}</h2>
        {agent === undefined ? <Templates take={set} /> : null}
        <ErrorBand error={failure} />
        <Fields draft={draft} set={set} />
        <Picked chosen={draft.capabilities} change={(capabilities) => set({ capabilities })} refused={refused} />
        <Picker chosen={draft.capabilities} add={(id) => set({ capabilities: [...draft.capabilities, { id, config: {} }] })} />
        <div className="row">
          <Button type="submit" look="primary" disabled={draft.name.trim() === '' || refused !== null} acts>
            {agent === undefined ? 'Make it' : 'Save'}
          </Button>
          {first ? null : <Button onClick={close}>Cancel</Button>}
        </div>
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <aside className="cmp scroll" aria-label="What it would be" tabIndex={0}>
        <div className="ph">
          <h2 className="grow">What it would be</h2>
        </div>
        <Preview data={preview.data} failure={preview.error} />
      </aside>
    </>
  );
}

function Templates({ take }: { take(draft: Partial<Draft>): void }): JSX.Element {
  return (
    <div className="templates">
      {TEMPLATES.map(({ name, about, prompt, capabilities }) => (
        <button
          key={name}
          type="button"
          className="panel template"
          onClick={() => take({ name, prompt, capabilities: capabilities.map((id) => ({ id, config: {} })) })}
        >
          <b>{name}</b>
          <span className="mute s">{about}</span>
        </button>
      ))}
    </div>
  );
}

function Fields({ draft, set }: { readonly draft: Draft; set(next: Partial<Draft>): void }): JSX.Element {
  return (
    <>
      <label>
        Name
        <input value={draft.name} onChange={(event) => set({ name: event.target.value })} required />
      </label>
      <label>
        Model
        <input className="m" placeholder="sim/sim-1" value={draft.model} onChange={(event) => set({ model: event.target.value })} />
      </label>
      <label>
        Prompt
        <textarea rows={4} value={draft.prompt} onChange={(event) => set({ prompt: event.target.value })} />
      </label>
      <div className="labelled">
        Tools of the same name
        <div>
          <Select label="Conflicts" value={draft.conflicts} options={CONFLICTS} onChange={(conflicts) => set({ conflicts })} />
        </div>
      </div>
    </>
  );
}
