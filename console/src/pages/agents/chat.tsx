import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useEffect, useRef, useState } from 'react';
import { interactionsQuery } from '../../api/interactions.ts';
import { useStream } from '../../api/streams.ts';
import type { Messages, Sessions } from '../../api/types.ts';
import { cost, shortId } from '../../base/format.ts';
import { Approval } from '../../components/approval/approval.tsx';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { messagesQuery, say } from './data.ts';

type Session = Sessions['items'][number];
type Message = Messages['items'][number];

const EVENTS = [
  'output.message.completed',
  'tool.started',
  'tool.completed',
  'turn.completed',
  'turn.failed',
  'turn.cancelled',
  'approval.requested',
  'approval.answered',
  'session.idled',
  'input.message',
];

/** The conversation of a session. Pieces of an answer are shown while they come; only what is stored stays. */
export function Chat({ session, agentName }: { readonly session: Session; readonly agentName: string }): JSX.Element {
  const client = useQueryClient();
  const messages = useQuery(messagesQuery(session.id));
  const open = useQuery(interactionsQuery);
  const [partial, setPartial] = useState('');
  const [failed, setFailed] = useState<string | null>(null);
  const end = useRef<HTMLDivElement>(null);
  const refresh = (): void => {
    setPartial('');
    void client.invalidateQueries({ queryKey: ['messages', session.id] });
    void client.invalidateQueries({ queryKey: ['sessions'] });
    void client.invalidateQueries({ queryKey: ['interactions'] });
  };
  useStream(`/v1/sessions/${session.id}/events`, {
    ...Object.fromEntries(EVENTS.map((name) => [name, refresh])),
    'output.message.delta': (data) => {
      const event = JSON.parse(data) as { data?: { delta?: string } }; // an event of the server's own stream
      setPartial((before) => before + (event.data?.delta ?? ''));
    },
    'output.message.reset': () => setPartial(''),
    'turn.failed': (data) => {
      const event = JSON.parse(data) as { data?: { error?: { code?: string; message?: string } } }; // likewise
      setFailed(`${event.data?.error?.code ?? 'failed'}: ${event.data?.error?.message ?? ''}`);
      refresh();
    },
  });
  const asked = (open.data?.items ?? []).filter(({ session_id }) => session_id === session.id);
  const items = messages.data?.items ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever comes, the end stays in sight
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [items.length, partial, asked.length]);
  return (
    <div className="chat">
      <div className="ch">
        <b className="el">{session.title ?? 'A session'}</b> <code className="mute">…{session.id.slice(-6)}</code>
        <span className="grow" />
        <span className="mute s">{cost(session.usage.cost_nano_usd)}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <div className="msgs scroll" tabIndex={0} role="log" aria-label="Conversation">
        {items.map((message, index) => (
          <MessageView key={message.id} message={message} last={items[index + 1]?.turn_id !== message.turn_id} />
        ))}
        {partial === '' ? null : (
          <div className="a">
            <Markdown text={partial} />
          </div>
        )}
        {session.status === 'active' && partial === '' ? (
          <p className="live s">
            <i className="dot live" /> works
          </p>
        ) : null}
        {failed === null ? null : <ErrorBand error={failed} />}
        {asked.map((item) => (
          <Approval key={item.id} item={item} selected />
        ))}
        <div ref={end} />
      </div>
      <Composer session={session.id} agentName={agentName} busy={session.status !== 'idle'} sent={refresh} />
    </div>
  );
}

type Part = Record<string, unknown>;

function MessageView({ message, last }: { readonly message: Message; readonly last: boolean }): JSX.Element {
  return (
    <>
      {message.content.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
        <PartView key={index} part={part} role={message.role} />
      ))}
      {last && message.role === 'agent' && message.run_id !== null ? (
        <div className="turn">
          turn ·{' '}
          <Link className="u" to="/runs/$run" params={{ run: message.run_id }}>
            receipt {shortId(message.run_id)}
          </Link>
        </div>
      ) : null}
    </>
  );
}

function PartView({ part, role }: { readonly part: Part; readonly role: string }): JSX.Element | null {
  const text = typeof part.text === 'string' ? part.text : '';
  if (part.type === 'tool_call' || part.type === 'tool_result') return <ToolPart part={part} />;
  if (part.type === 'thinking') {
    return (
      <details className="mute s">
        <summary>Thinking</summary>
        {text}
      </details>
    );
  }
  if (text === '') return null;
  return <div className={role === 'user' ? 'u' : 'a'}>{role === 'user' ? text : <Markdown text={text} />}</div>;
}

function ToolPart({ part }: { readonly part: Part }): JSX.Element {
  const result = part.type === 'tool_result';
  const body = part.arguments ?? part.input ?? part.result ?? part.output ?? part.content ?? part.text;
  const words = typeof body === 'string' ? body : JSON.stringify(body);
  return (
    <div className="call">
      <div className="h">
        <Icon name={result ? 'check' : 'right'} />{' '}
        <b className="m">{String(part.name ?? part.tool_name ?? (result ? 'result' : 'tool'))}</b>
        <code className="mute el">{result ? '' : words}</code>
      </div>
      {result ? <pre className="scroll">{words}</pre> : null}
    </div>
  );
}

function Composer({
  session,
  agentName,
  busy,
  sent,
}: {
  readonly session: string;
  readonly agentName: string;
  readonly busy: boolean;
  sent(): void;
}): JSX.Element {
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const go = (): void => {
    if (text.trim() === '') return;
    say(session, text).then(() => {
      setText('');
      setFailure(null);
      sent();
    }, setFailure);
  };
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <ErrorBand error={failure} />
      <div className="row">
        <input
          className="grow"
          aria-label={`Message ${agentName}`}
          placeholder={`Message ${agentName}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="mute s hide-s">{busy ? 'goes into the turn under way' : ''}</span>
        <Button type="submit" look="primary">
          Send
        </Button>
      </div>
    </form>
  );
}
