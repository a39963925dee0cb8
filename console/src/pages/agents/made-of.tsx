import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import type { AgentView } from '../../api/types.ts';
import { day } from '../../base/format.ts';
import { useUrlChoice } from '../../base/url-state.ts';
import { Button, CopyId, ErrorBand, Segmented } from '../../components/bits/bits.tsx';
import { fileQuery, previewQuery } from './data.ts';
import { Preview } from './preview.tsx';

const TABS = ['made', 'limits', 'file'] as const;
type Tab = (typeof TABS)[number];

/** What an agent is made of, what it is held to, and the file that makes it again elsewhere. */
export function MadeOf({ agent, change }: { readonly agent: AgentView; change(): void }): JSX.Element {
  const [tab, setTab] = useUrlChoice('part', TABS);
  const preview = useQuery(previewQuery(agent.id));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <aside className="cmp scroll" aria-label={`What ${agent.name} is made of`} tabIndex={0}>
      <div className="ph">
        <h2 className="grow el">{agent.name}</h2>
        <Segmented<Tab>
          label="Part"
          value={tab}
          onChange={setTab}
          options={[
            ['made', 'Made of'],
            ['limits', 'Limits'],
            ['file', 'File'],
          ]}
        />
        <Button small onClick={change}>
          Change
        </Button>
      </div>
      {tab === 'made' ? <Preview data={preview.data} failure={preview.error} /> : null}
      {tab === 'limits' ? <Limits agent={agent} /> : null}
      {tab === 'file' ? <File agent={agent.id} /> : null}
    </aside>
  );
}

function Limits({ agent }: { readonly agent: AgentView }): JSX.Element {
  return (
    <div className="sec">
      <dl className="kv">
        <dt>model calls of one turn</dt>
        <dd>{agent.max_iterations ?? 'as the server says'}</dd>
        <dt>dollars of one turn</dt>
        <dd>{agent.max_cost_usd === null ? 'no limit' : `$${agent.max_cost_usd}`}</dd>
        <dt>tools of the same name</dt>
        <dd>{agent.conflicts}</dd>
        <dt>tags</dt>
        <dd>{agent.tags.length === 0 ? 'none' : agent.tags.join(', ')}</dd>
        <dt>made</dt>
        <dd>{day(agent.created_at)}</dd>
        <dt>id</dt>
        <dd>
          <code>{agent.id}</code> <CopyId text={agent.id} />
        </dd>
      </dl>
    </div>
  );
}

/** The agent as Markdown: `abp agents import` and POST /v1/agents/import take it. */
function File({ agent }: { readonly agent: string }): JSX.Element {
  const file = useQuery(fileQuery(agent));
  return (
    <div className="sec">
      <ErrorBand error={file.error} />
      {file.data === undefined ? null : (
        <>
          <pre className="code file">{file.data}</pre>
          <div className="row">
            <CopyId text={file.data} />
            <span className="mute s">
              <code>abp agents import FILE</code> makes it again elsewhere
            </span>
          </div>
        </>
      )}
    </div>
  );
}
