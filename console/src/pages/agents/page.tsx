import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { sessionQuery } from '../../api/queries.ts';
import type { AgentView } from '../../api/types.ts';
import { useActions } from '../../base/actions.ts';
import { hourMinute } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { type UrlState, useUrlState } from '../../base/url-state.ts';
import { Button, Empty, ErrorBand, Locked } from '../../components/bits/bits.tsx';
import { AgentForm } from './agent-form.tsx';
import { Chat } from './chat.tsx';
import { agentQuery, agentsQuery, busyQuery, sessionQuery as oneSessionQuery, openSession, type Session, sessionsQuery } from './data.ts';
import { MadeOf } from './made-of.tsx';
import './page.css';

const DOTS: Readonly<Record<string, string>> = { waiting: 'dot warn', active: 'dot live', idle: 'dot off' };

/** The agent that is changed, and the one whose sessions are shown: while a new one is made, none of the others is looked at. */
function lookedAt(state: UrlState, agent: AgentView | undefined): Readonly<Record<'editing' | 'shown', AgentView | undefined>> {
  return { editing: state.edit === 'true' ? agent : undefined, shown: state.new === 'true' ? undefined : agent };
}

/** What is my agent made of, and what does it say? A browser that may read and answer alone is told so. */
export function Page(): JSX.Element {
  const session = useQuery(sessionQuery);
  const may = session.data?.scopes.includes('agents');
  if (may ?? session.isError) return <Agents />;
  return (
    <div className="p-agents fill">
      <h1 className="sr">Agents</h1>
      {may === undefined ? null : (
        <Empty title="Agents are not for this browser">
          <Locked what="Talking to agents and making them" />
          <p className="note">
            What they ask is in the <Link to="/inbox">inbox</Link>.
          </p>
        </Empty>
      )}
    </div>
  );
}

interface Looked {
  readonly agents: readonly AgentView[] | undefined;
  readonly agent: AgentView | undefined;
  readonly sessions: readonly Session[];
  readonly session: Session | undefined;
  readonly error: unknown;
  readonly isMissing: boolean;
  again(): void;
}

/** What the address names, and without an address the first of each. It never shows something else than what the address names. */
function useLooked(chosen: string | undefined, wanted: string | undefined): Looked {
  const agents = useQuery(agentsQuery);
  const listed = chosen === undefined ? agents.data?.items[0] : agents.data?.items.find(({ id }) => id === chosen);
  const linked = useQuery({ ...agentQuery(chosen), enabled: chosen !== undefined && agents.isSuccess && listed === undefined });
  const agent = listed ?? linked.data;
  const sessions = useQuery(sessionsQuery(agent?.id));
  const known = wanted === undefined ? sessions.data?.items[0] : sessions.data?.items.find(({ id }) => id === wanted);
  const old = useQuery({ ...oneSessionQuery(wanted), enabled: wanted !== undefined && sessions.isSuccess && known === undefined });
  const found = known ?? old.data;
  const isOthers = found !== undefined && agent !== undefined && found.agent_id !== agent.id;
  return {
    agents: agents.data?.items,
    agent,
    sessions: sessions.data?.items ?? [],
    session: isOthers ? undefined : found,
    error: agents.error ?? linked.error ?? old.error,
    isMissing: linked.error !== null || old.error !== null || isOthers,
    again: () => void agents.refetch(),
  };
}

function Agents(): JSX.Element {
  const { agent: chosen, session: wanted } = useParams({ strict: false });
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { agents, agent, sessions, session, error, isMissing, again } = useLooked(chosen, wanted);
  const [failure, setFailure] = useState<unknown>(null);
  const empty = agents?.length === 0 && !isMissing && agent === undefined;
  const { editing, shown } = lookedAt(state, agent);
  const making = state.new === 'true' || empty || editing !== undefined;
  const start = (): void => {
    if (agent === undefined) return;
    openSession(agent.id).then(async (id) => {
      await client.invalidateQueries({ queryKey: ['sessions'] });
      await navigate({ to: '/agents/$agent/sessions/$session', params: { agent: agent.id, session: id } });
    }, setFailure);
  };
  const makeNew = (): void => change({ new: 'true', edit: undefined });
  useKeys({ n: makeNew, escape: () => making && change({ new: undefined, edit: undefined }) });
  useActions(agent === undefined ? [] : [{ id: 'new-session', text: `New session with ${agent.name}`, icon: 'plus', act: start }]);
  return (
    <div className="p-agents fill">
      <h1 className="sr">Agents</h1>
      <ErrorBand error={failure ?? error} retry={again} />
      <div className={making || wanted !== undefined ? 'wrap talks' : 'wrap'}>
        <nav className="li scroll" aria-label="Agents and sessions">
          <AgentList list={agents ?? []} agent={shown} makeNew={makeNew} />
          {shown === undefined ? null : <SessionList agent={shown} items={sessions} session={session} start={start} />}
        </nav>
        {making ? (
          <AgentForm key={editing?.id ?? 'new'} agent={editing} first={empty} close={() => change({ new: undefined, edit: undefined })} />
        ) : (
          <>
            {session === undefined || agent === undefined ? (
              <Empty title={isMissing ? 'There is nothing at this address' : readingOr(agent, wanted)}>
                {agent === undefined || (wanted !== undefined && !isMissing) ? null : (
                  <Button acts onClick={start}>
                    Begin one
                  </Button>
                )}
              </Empty>
            ) : (
              <Chat key={session.id} session={session} agent={agent} />
            )}
            {agent === undefined ? (
              <aside className="cmp" aria-label="No agent" />
            ) : (
              <MadeOf key={agent.id} agent={agent} change={() => change({ edit: 'true' })} />
            )}
          </>
        )}
      </div>
    </div>
  );
}

function readingOr(agent: AgentView | undefined, wanted: string | undefined): string {
  if (agent === undefined) return 'Reading the agents';
  return wanted === undefined ? 'No session yet' : 'Reading the session';
}

interface AgentListProps {
  readonly list: readonly AgentView[];
  readonly agent: AgentView | undefined;
  makeNew(): void;
}

function AgentList({ list, agent, makeNew }: AgentListProps): JSX.Element {
  const waiting = useQuery(busyQuery('waiting'));
  const active = useQuery(busyQuery('active'));
  const countIn = (sessions: readonly Session[] | undefined, id: string): number =>
    (sessions ?? []).filter(({ agent_id: owner }) => owner === id).length;
  return (
    <>
      <div className="ph">
        <h2 className="grow">Agents</h2>
        <Button small icon="plus" keys="N" onClick={makeNew}>
          New
        </Button>
      </div>
      {list.map((item) => {
        const waits = countIn(waiting.data?.items, item.id);
        const works = countIn(active.data?.items, item.id);
        const state = waits > 0 ? 'waiting' : works > 0 ? 'active' : 'idle';
        return (
          <Link key={item.id} className={item.id === agent?.id ? 'it on' : 'it'} to="/agents/$agent" params={{ agent: item.id }}>
            <i className={DOTS[state]} />
            <b className="md el">{item.name}</b>
            <span className={waits > 0 ? 'warn s' : works > 0 ? 'live s' : 'mute s'}>
              {waits > 0 ? `${waits} waits` : works > 0 ? 'works' : 'idle'}
            </span>
            <span />
            <code className="mute el">{item.model ?? 'sim/sim-1'}</code>
          </Link>
        );
      })}
    </>
  );
}

interface SessionListProps {
  readonly agent: AgentView;
  readonly items: readonly Session[];
  readonly session: Session | undefined;
  start(): void;
}

function SessionList({ agent, items, session, start }: SessionListProps): JSX.Element {
  return (
    <>
      <div className="ph">
        <h2 className="grow el" title={`Sessions of ${agent.name}`}>
          Sessions of {agent.name}
        </h2>
        <Button small acts icon="plus" onClick={start} aria-label={`new session with ${agent.name}`}>
          New
        </Button>
      </div>
      {items.map((item) => (
        <Link
          key={item.id}
          className={item.id === session?.id ? 'it on' : 'it'}
          to="/agents/$agent/sessions/$session"
          params={{ agent: agent.id, session: item.id }}
        >
          <i className={DOTS[item.status] ?? 'dot off'} />
          <span className="el">{item.title ?? `session …${item.id.slice(-6)}`}</span>
          <span className={item.status === 'waiting' ? 'warn s' : 'mute s'}>
            {item.status === 'waiting' ? 'waits' : hourMinute(item.updated_at)}
          </span>
        </Link>
      ))}
    </>
  );
}
