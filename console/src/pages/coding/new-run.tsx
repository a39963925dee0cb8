import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, type RefObject, useDeferredValue, useState } from 'react';
import { enginesQuery, sessionQuery } from '../../api/queries.ts';
import { type UrlState, useUrlState } from '../../base/url-state.ts';
import { Button, ErrorBand, Locked, Select } from '../../components/bits/bits.tsx';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { adaptersQuery, checkQuery, startRun, type Wanted } from './data.ts';

const THINKING = ['', 'low', 'medium', 'high', 'max'].map(
  (level) => [level, level === '' ? 'thinking as it likes' : `thinking ${level}`] as const,
);
const APPROVAL = ['prompt', 'deny', 'yolo'].map((mode) => [mode, `approval ${mode}`] as const);
const BUDGETS = ['', '0.5', '1', '2', '5'].map((usd) => [usd, usd === '' ? 'no budget' : `$${usd}`] as const);

const NOTHING: Wanted = {
  agent: 'claude',
  prompt: '',
  engine: 'sim',
  model: '',
  thinking: '',
  approval: 'prompt',
  budget: '',
  cwd: '',
  session: '',
};

/** The options in the address: a run that is started again, or a conversation that goes on. */
function given(search: UrlState): Partial<Wanted> {
  return Object.fromEntries(Object.entries(search).filter(([name, value]) => name in NOTHING && value !== undefined));
}

/** Starts a coding agent. What would become of its options is said while they are chosen. */
export function NewRun({ form }: { readonly form: RefObject<HTMLTextAreaElement | null> }): JSX.Element {
  const navigate = useNavigate();
  const session = useQuery(sessionQuery);
  const adapters = useQuery(adaptersQuery);
  const engines = useQuery(enginesQuery);
  const may = session.data?.scopes.includes('run') === true;
  const [failure, setFailure] = useState<unknown>(null);
  const [search] = useUrlState();
  const [wanted, setWanted] = useState<Wanted>(() => ({ ...NOTHING, ...given(search) }));
  const set = (name: keyof Wanted) => (value: string) => setWanted((before) => ({ ...before, [name]: value }));
  const check = useQuery(checkQuery(useDeferredValue(wanted), may));
  const start = (): void => {
    startRun(wanted).then((run) => navigate({ to: '/runs/$run', params: { run } }), setFailure);
  };
  return (
    <section className="new-run" aria-label="New run">
      <div className="ph">
        <h2 className="grow">New run</h2>
        {check.data === undefined ? null : <Verdict ok={check.data.ok} />}
      </div>
      {may ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            start();
          }}
        >
          <textarea
            ref={form}
            aria-label="Prompt"
            placeholder="What should it do?"
            rows={2}
            value={wanted.prompt}
            onChange={(event) => set('prompt')(event.target.value)}
          />
          <div className="row wrapped">
            <Select
              label="Coding agent"
              value={wanted.agent}
              onChange={set('agent')}
              options={(adapters.data?.items ?? []).map(({ agent, displayName }) => [agent, displayName] as const)}
            />
            <Select
              label="Engine"
              value={wanted.engine}
              onChange={set('engine')}
              options={[['', 'its own engine'], ...(engines.data?.items ?? []).map(({ id }) => [id, `on ${id}`] as const)]}
            />
            <input aria-label="Model" placeholder="model" value={wanted.model} onChange={(event) => set('model')(event.target.value)} />
            <Select label="Thinking" value={wanted.thinking} onChange={set('thinking')} options={THINKING} />
            <Select label="Approval" value={wanted.approval} onChange={set('approval')} options={APPROVAL} />
            <Select label="Budget" value={wanted.budget} onChange={set('budget')} options={BUDGETS} />
            <input
              aria-label="Folder"
              className="wide"
              placeholder="folder on the server"
              value={wanted.cwd}
              onChange={(event) => set('cwd')(event.target.value)}
            />
          </div>
          {wanted.session === '' ? null : (
            <p className="note">
              Goes on with the conversation <code>{wanted.session}</code>{' '}
              <Button small onClick={() => set('session')('')}>
                Begin a new one
              </Button>
            </p>
          )}
          <ErrorBand error={failure} />
          {check.data?.error === undefined ? null : (
            <p className="bad s">
              <b>{check.data.error.code}</b> {check.data.error.message}
            </p>
          )}
          {(check.data?.fidelity ?? []).map(({ path, fate, note }) => (
            <div key={path} className="row s">
              <FateGlyph fate={fate} word /> <span>{path}</span> <span className="mute">{note}</span>
            </div>
          ))}
          {wanted.budget === '' ? null : <p className="note mute">The budget is advisory while callers without a key are let in.</p>}
          <Button acts look="primary" type="submit" icon="play" disabled={wanted.prompt === '' || check.data?.ok !== true}>
            Start
          </Button>
        </form>
      ) : (
        <Locked what="Starting a coding agent" />
      )}
    </section>
  );
}

function Verdict({ ok }: { readonly ok: boolean }): JSX.Element {
  return (
    <span className={ok ? 'ok s' : 'bad s'}>
      <Icon name={ok ? 'check' : 'refused'} /> {ok ? 'would start' : 'would be refused'}
    </span>
  );
}
