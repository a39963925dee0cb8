import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type JSX, useEffect, useRef, useState } from 'react';
import { answer, interactionsQuery } from '../../api/interactions.ts';
import { useRefresh } from '../../api/refresh.ts';
import { useStream } from '../../api/streams.ts';
import type { AgentView } from '../../api/types.ts';
import { cost } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Approval } from '../../components/approval/approval.tsx';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { forkSession, messagesQuery, type Session, say } from './data.ts';
import { Messages } from './messages.tsx';

/** Events after which what is stored is read again. */
const EVENTS = [
  'output.message.completed',
  'tool.started',
  'tool.completed',
  'turn.started',
  'turn.completed',
  'turn.failed',
  'turn.cancelled',
  'approval.requested',
  'approval.answered',
  'session.idled',
  'input.message',
];

interface Failed {
  readonly code: string;
  readonly message: string;
}

function failureIn(data: string): Failed {
  const event = JSON.parse(data) as { data?: { error_code?: string; error?: { code?: string; message?: string } | string } }; // an event of the server's own stream
  const { error, error_code: code } = event.data ?? {};
  if (typeof error === 'string') return { code: code ?? 'failed', message: error };
  return { code: code ?? error?.code ?? 'failed', message: error?.message ?? 'The turn failed.' };
}

/** What a session tells while it happens: pieces of an answer, a new start of it, a failure. */
function useHappenings(session: string) {
  const askAgain = useRefresh([['messages', session], ['sessions'], ['interactions']]);
  const [partial, setPartial] = useState('');
  const [restarted, setRestarted] = useState(false);
  const [failed, setFailed] = useState<Failed | null>(null);
  const refresh = (): void => {
    setPartial('');
    askAgain();
  };
  useStream(
    `/v1/sessions/${session}/events`,
    {
      ...Object.fromEntries(EVENTS.map((name) => [name, refresh])),
      'output.message.delta': (data) => {
        const event = JSON.parse(data) as { data?: { delta?: string } }; // likewise
        setPartial((before) => before + (event.data?.delta ?? ''));
      },
      'output.message.reset': () => {
        setPartial('');
        setRestarted(true);
      },
      'turn.started': () => {
        setFailed(null);
        setRestarted(false);
        refresh();
      },
      'turn.failed': (data) => {
        setFailed(failureIn(data));
        refresh();
      },
    },
    'since_id',
  );
  return { partial, restarted, failed, refresh };
}

/** The conversation of a session. Pieces of an answer are shown while they come; only what is stored stays. */
export function Chat({ session, agent }: { readonly session: Session; readonly agent: AgentView }): JSX.Element {
  const client = useQueryClient();
  const messages = useQuery(messagesQuery(session.id));
  const open = useQuery(interactionsQuery);
  const { partial, restarted, failed, refresh } = useHappenings(session.id);
  const [failure, setFailure] = useState<unknown>(null);
  const end = useRef<HTMLDivElement>(null);
  const asked = (open.data?.items ?? []).filter(({ session_id: id }) => id === session.id);
  const items = messages.data?.items ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever comes, the end stays in sight
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [items.length, partial, asked.length, failed]);
  const decide = (approve: boolean) => (): void => {
    const [first] = asked;
    if (first !== undefined) answer(first, approve, '').then(() => client.invalidateQueries({ queryKey: ['interactions'] }), setFailure);
  };
  useKeys({ a: decide(true), d: decide(false) }, asked.length > 0);
  const lastWords = items.findLast(({ role }) => role === 'user')?.content.find(({ type }) => type === 'text')?.text;
  const again = (): void => {
    if (typeof lastWords === 'string') say(session.id, lastWords).then(refresh, setFailure);
  };
  return (
    <div className="chat">
      <ChatHead
        session={session}
        agent={agent}
        turns={new Set(items.flatMap(({ turn_id: turn }) => turn ?? [])).size}
        failed={setFailure}
      />
      <ErrorBand error={failure ?? messages.error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <div className="msgs scroll" tabIndex={0} role="log" aria-label="Conversation">
        {items.length === 0 && messages.data !== undefined ? <p className="mute">Nothing said yet.</p> : null}
        <Messages items={items} agent={agent.id} waits={session.status === 'waiting'} />
        {restarted ? <div className="turn">the answer began again</div> : null}
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
        {failed === null ? null : <TurnFailed failed={failed} again={again} />}
        {asked.map((item) => (
          <Approval key={item.id} item={item} selected pinned />
        ))}
        <div ref={end} />
      </div>
      <Composer session={session.id} agentName={agent.name} busy={session.status !== 'idle'} sent={refresh} />
    </div>
  );
}

interface HeadProps {
  readonly session: Session;
  readonly agent: AgentView;
  readonly turns: number;
  failed(error: unknown): void;
}

function ChatHead({ session, agent, turns, failed }: HeadProps): JSX.Element {
  const navigate = useNavigate();
  const client = useQueryClient();
  const fork = async (): Promise<void> => {
    const id = await forkSession(session.id);
    await client.invalidateQueries({ queryKey: ['sessions'] });
    await navigate({ to: '/agents/$agent/sessions/$session', params: { agent: agent.id, session: id } });
  };
  return (
    <div className="ch">
      <Link className="only-s btn sm" to="/agents/$agent" params={{ agent: agent.id }} aria-label="all sessions">
        ←
      </Link>
      <b className="el">{session.title ?? `A session with ${agent.name}`}</b>{' '}
      <code className="mute nw hide-s">session …{session.id.slice(-6)}</code>
      <span className="grow" />
      <span className="mute s nw">
        {turns === 1 ? '1 turn' : `${turns} turns`}, {session.usage.cost_nano_usd === 0 ? 'no cost' : cost(session.usage.cost_nano_usd)}
      </span>
      <Button small acts onClick={() => fork().catch(failed)}>
        Fork
      </Button>
      <Link className="btn sm" to="/runs" search={{ agent: agent.id }}>
        Receipts
      </Link>
    </div>
  );
}

function TurnFailed({ failed, again }: { readonly failed: Failed; again(): void }): JSX.Element {
  return (
    <div className="failed" role="alert">
      <Icon name="refused" />
      <a className="u b m" href={`/docs/errors/${failed.code}`} target="_blank" rel="noreferrer">
        {failed.code}
      </a>
      <span className="grow">{failed.message}</span>
      <Button small acts icon="replay" onClick={again}>
        Send again
      </Button>
    </div>
  );
}

interface ComposerProps {
  readonly session: string;
  readonly agentName: string;
  readonly busy: boolean;
  sent(): void;
}

function Composer({ session, agentName, busy, sent }: ComposerProps): JSX.Element {
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
        <textarea
          className="grow"
          rows={Math.min(6, text.split('\n').length)}
          aria-label={`Message ${agentName}`}
          placeholder={`Message ${agentName}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            go();
          }}
        />
        <span className="mute s hide-s">{busy ? 'goes into the turn under way' : ''}</span>
        <Button type="submit" look="primary" keys="↵" acts>
          Send
        </Button>
      </div>
    </form>
  );
}
