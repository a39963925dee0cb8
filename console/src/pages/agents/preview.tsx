import type { JSX, ReactNode } from 'react';
import { ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import type { Preview as PreviewData } from './data.ts';

const POLICY: Readonly<Record<string, string>> = { auto: 'auto', requires_approval: 'asks first' };

/** What a turn would send: model, capabilities in order, the prompt as the model reads it, conflicts and tools. */
export function Preview({ data, failure }: { readonly data: PreviewData | undefined; readonly failure: unknown }): JSX.Element {
  const refused = data?.error ? `${data.error.code}: ${data.error.message}` : null;
  return (
    <>
      <ErrorBand error={failure ?? refused} />
      {data === undefined ? null : (
        <>
          <Model data={data} />
          <Section title="Capabilities, in order">
            {data.capabilities.map((capability) => (
              <div key={capability.capability_id} className="cap">
                <span className="mute">{capability.position === null ? '·' : capability.position + 1}</span>
                <span className="el">
                  <b className="md">{capability.capability_id}</b> <code className="mute">{capability.version}</code>{' '}
                  <span className="mute s">{capability.position === null ? `pulled in by ${capability.requested_by.join(', ')}` : ''}</span>
                </span>
                <span className="mute s nw">{toolCount(data, capability.capability_id)}</span>
              </div>
            ))}
            {data.capabilities.length === 0 ? <p className="note">none: it only talks</p> : null}
            {data.warnings.map((warning) => (
              <p key={warning} className="warn s">
                {warning}
              </p>
            ))}
          </Section>
          <Conflicts data={data} />
          <Prompt data={data} />
          <Tools data={data} />
        </>
      )}
    </>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): JSX.Element {
  return (
    <div className="sec">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

function toolCount({ tools }: PreviewData, capability: string): string {
  const many = tools.filter(({ source }) => source.capability_id === capability).length;
  return many === 1 ? '1 tool' : `${many} tools`;
}

/** What the capabilities need of the model, and how it has it. */
function negotiated({ result: { native, emulatable, unsupported } }: NonNullable<PreviewData['negotiation']>): string {
  const parts = [
    ...native.map((name) => `${name} native`),
    ...emulatable.map((name) => `${name} emulated`),
    ...unsupported.map((name) => `${name} unsupported`),
  ];
  return parts.length === 0 ? 'needs nothing that a model may lack' : parts.join(', ');
}

function Model({ data: { model, negotiation } }: { readonly data: PreviewData }): JSX.Element {
  const met = negotiation === null || negotiation.unmet.length === 0;
  return (
    <div className="sec">
      <span className="mute">Model</span> <b className="md">{model?.engine}</b> <code>{model?.model}</code>
      {negotiation === null ? null : (
        <p className={met ? 'ok s' : 'bad s'}>
          <Icon name={met ? 'check' : 'refused'} /> {negotiated(negotiation)}
        </p>
      )}
    </div>
  );
}

function Conflicts({ data: { conflicts } }: { readonly data: PreviewData }): JSX.Element | null {
  if (conflicts.length === 0) return null;
  return (
    <Section title="Tools of the same name">
      {conflicts.map(({ name, capabilities, outcome, winner }) => (
        <p key={name} className={outcome === 'refused' ? 'bad s' : 's'}>
          <code>{name}</code> of {capabilities.join(' and ')}: {outcome}
          {winner === undefined ? '' : `, ${winner} wins`}
        </p>
      ))}
    </Section>
  );
}

/** About four letters are a token; said as an estimate. */
const LETTERS = 4;

function Prompt({ data: { prompt_parts: parts } }: { readonly data: PreviewData }): JSX.Element {
  const letters = parts.reduce((sum, { text }) => sum + text.length, 0);
  return (
    <Section title="Prompt, as the model reads it">
      {parts.map(({ source, text }) => (
        <div key={source} className={source === 'agent' ? 'pp own' : 'pp'}>
          <small>{source === 'agent' ? 'the agent’s own' : source}</small>
          {text}
        </div>
      ))}
      <p className="mute s">{parts.length === 0 ? 'it has none' : `${parts.length} parts, about ${Math.ceil(letters / LETTERS)} tokens`}</p>
    </Section>
  );
}

function Tools({ data: { tools } }: { readonly data: PreviewData }): JSX.Element {
  return (
    <Section title={tools.length === 1 ? '1 tool' : `${tools.length} tools`}>
      <div className="tl">
        {tools.map((tool) => (
          <div key={tool.name} className="contents">
            <code className="el" title={tool.description}>
              {tool.name}
            </code>
            <span className={tool.policy === 'auto' ? 'mute' : 'warn'}>{POLICY[tool.policy]}</span>
            <span className="mute">{tool.effect.replaceAll('_', ' ')}</span>
          </div>
        ))}
      </div>
    </Section>
  );
}
