import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import type { AgentView } from '../../api/types.ts';
import { ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { previewQuery } from './data.ts';

const POLICY: Readonly<Record<string, string>> = { auto: 'auto', requires_approval: 'asks first' };

/** What a turn would send: model, capabilities in order, the prompt as the model reads it, and the tools. */
export function MadeOf({ agent }: { readonly agent: AgentView }): JSX.Element {
  const preview = useQuery(previewQuery(agent.id));
  const data = preview.data;
  return (
    <aside className="cmp scroll" aria-label={`What ${agent.name} is made of`}>
      <div className="ph">
        <h2 className="grow">{agent.name}</h2>
      </div>
      <ErrorBand error={preview.error ?? (data?.error ? `${data.error.code}: ${data.error.message}` : null)} />
      <div className="sec">
        <span className="mute">Model</span> <b className="md">{data?.model?.engine}</b> <code>{data?.model?.model}</code>
        {data?.negotiation === null || data?.negotiation === undefined ? null : (
          <p className={data.negotiation.unmet.length === 0 ? 'ok s' : 'bad s'}>
            <Icon name={data.negotiation.unmet.length === 0 ? 'check' : 'refused'} /> {data.negotiation.report.summary}
          </p>
        )}
      </div>
      <div className="sec">
        <h2>Capabilities, in order</h2>
        {(data?.capabilities ?? []).map((capability) => (
          <div key={capability.capability_id} className="cap">
            <span className="mute">{capability.position ?? '·'}</span>
            <span className="el">
              <b className="md">{capability.capability_id}</b> <code className="mute">{capability.version}</code>{' '}
              <span className="mute s">{capability.position === null ? `pulled in by ${capability.requested_by.join(', ')}` : ''}</span>
            </span>
            <span className="mute s">
              {data?.tools.filter(({ source }) => source.capability_id === capability.capability_id).length} tools
            </span>
          </div>
        ))}
        {data?.capabilities.length === 0 ? <p className="note">none: it only talks</p> : null}
      </div>
      <div className="sec">
        <h2>Prompt, as the model reads it</h2>
        {(data?.prompt_parts ?? []).map(({ source, text }) => (
          <div key={source} className="pp">
            <small>{source === 'agent' ? 'the agent’s own' : source}</small>
            {text}
          </div>
        ))}
      </div>
      <div className="sec">
        <h2>{data?.tools.length ?? 0} tools</h2>
        <div className="tl">
          {(data?.tools ?? []).map((tool) => (
            <div key={tool.name} className="contents">
              <code className="el" title={tool.description}>
                {tool.name}
              </code>
              <span className={tool.policy === 'auto' ? 'mute' : 'warn'}>{POLICY[tool.policy]}</span>
              <span className="mute">{tool.effect.replaceAll('_', ' ')}</span>
            </div>
          ))}
        </div>
      </div>
    </aside>
  );
}
