import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { capabilitiesQuery, createAgent, openSession } from './data.ts';

const TEMPLATES = [
  { name: 'clerk', prompt: 'You answer briefly and say what you do not know.', capabilities: ['current_time'] },
  { name: 'researcher', prompt: 'You find things out and cite what you read.', capabilities: ['research', 'current_time'] },
  { name: 'scribe', prompt: 'You keep notes in files and answer from them.', capabilities: ['file_system'] },
] as const;

/** Makes an agent. A list that cannot be put together is refused by the server with its reason, and nothing is saved. */
export function NewAgent({ close, first }: { close(): void; readonly first: boolean }): JSX.Element {
  const client = useQueryClient();
  const navigate = useNavigate();
  const capabilities = useQuery(capabilitiesQuery);
  const [name, setName] = useState('');
  const [prompt, setPrompt] = useState('');
  const [model, setModel] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  const make = async (): Promise<void> => {
    const agent = await createAgent({ name, system_prompt: prompt, model: model === '' ? null : model, capabilities: chosen });
    await client.invalidateQueries({ queryKey: ['agents'] });
    const session = await openSession(agent.id, '');
    close();
    await navigate({ to: '/agents/$agent/sessions/$session', params: { agent: agent.id, session } });
  };
  return (
    <form
      className="new-agent scroll"
      aria-label="A new agent"
      onSubmit={(event) => {
        event.preventDefault();
        make().catch(setFailure);
      }}
    >
      <h2>{first ? 'Make the first agent' : 'A new agent'}</h2>
      <div className="row">
        {TEMPLATES.map((template) => (
          <Button
            key={template.name}
            small
            onClick={() => {
              setName(template.name);
              setPrompt(template.prompt);
              setChosen(template.capabilities);
            }}
          >
            {template.name}
          </Button>
        ))}
      </div>
      <ErrorBand error={failure} />
      <label>
        Name
        <input value={name} onChange={(event) => setName(event.target.value)} required />
      </label>
      <label>
        Model
        <input className="m" placeholder="sim/sim-1" value={model} onChange={(event) => setModel(event.target.value)} />
      </label>
      <label>
        Prompt
        <textarea rows={4} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
      </label>
      <fieldset>
        <legend>Capabilities, in the order you pick them</legend>
        {(capabilities.data?.items ?? []).map((capability) => (
          <label key={capability.id} className="pick">
            <input
              type="checkbox"
              checked={chosen.includes(capability.id)}
              disabled={capability.status === 'coming_soon'}
              onChange={(event) =>
                setChosen(event.target.checked ? [...chosen, capability.id] : chosen.filter((id) => id !== capability.id))
              }
            />
            <b className="md">{capability.name}</b> <span className="mute">{capability.description}</span>
            {chosen.includes(capability.id) ? <span className="tag">{chosen.indexOf(capability.id) + 1}</span> : null}
          </label>
        ))}
      </fieldset>
      <div className="row">
        <Button type="submit" look="primary" disabled={name === ''}>
          Make it
        </Button>
        {first ? null : <Button onClick={close}>Cancel</Button>}
      </div>
    </form>
  );
}
