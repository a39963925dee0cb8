import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { time } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Button, Empty, ErrorBand } from '../../components/bits/bits.tsx';
import { Chat } from './chat.tsx';
import { agentsQuery, openSession, sessionsQuery } from './data.ts';
import { MadeOf } from './made-of.tsx';
import { NewAgent } from './new-agent.tsx';
import './page.css';
import './agents.css';

const DOTS: Readonly<Record<string, string>> = { waiting: 'dot warn', active: 'dot live', idle: 'dot off' };

/** What is my agent made of, and what does it say? */
export function Page(): JSX.Element {
  const { agent: chosen, session: wanted } = useParams({ strict: false });
  const navigate = useNavigate();
  const client = useQueryClient();
  const agents = useQuery(agentsQuery);
  const [making, setMaking] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const list = agents.data?.items ?? [];
  const agent = list.find(({ id }) => id === chosen) ?? list[0];
  const sessions = useQuery(sessionsQuery(agent?.id));
  const session = sessions.data?.items.find(({ id }) => id === wanted) ?? sessions.data?.items[0];
  useKeys({ n: () => setMaking(true) });
  const start = (): void => {
    if (agent === undefined) return;
    openSession(agent.id, '').then(async (id) => {
      await client.invalidateQueries({ queryKey: ['sessions'] });
      await navigate({ to: '/agents/$agent/sessions/$session', params: { agent: agent.id, session: id } });
    }, setFailure);
  };
  const empty = agents.data !== undefined && list.length === 0;
  return (
    <div className="p-agents fill">
      <h1 className="sr">Agents</h1>
      <ErrorBand error={failure ?? agents.error} />
      <div className="wrap">
        <nav className="li scroll" aria-label="Agents and sessions">
          <div className="ph">
            <h2 className="grow">Agents</h2>
            <Button small icon="plus" keys="N" onClick={() => setMaking(true)}>
              New
            </Button>
          </div>
          {list.map((item) => (
            <Link key={item.id} className={item.id === agent?.id ? 'it on' : 'it'} to="/agents/$agent" params={{ agent: item.id }}>
              <i className="dot ok" />
              <b className="md el">{item.name}</b>
              <span />
              <span />
              <code className="mute el">{item.model ?? 'sim/sim-1'}</code>
            </Link>
          ))}
          {agent === undefined ? null : (
            <>
              <div className="ph">
                <h2 className="grow el">Sessions of {agent.name}</h2>
                <Button small icon="plus" onClick={start}>
                  New
                </Button>
              </div>
              {(sessions.data?.items ?? []).map((item) => (
                <Link
                  key={item.id}
                  className={item.id === session?.id ? 'it on' : 'it'}
                  to="/agents/$agent/sessions/$session"
                  params={{ agent: agent.id, session: item.id }}
                >
                  <i className={DOTS[item.status] ?? 'dot off'} />
                  <span className="el">{item.title ?? `session …${item.id.slice(-6)}`}</span>
                  <span className={item.status === 'waiting' ? 'warn s' : 'mute s'}>
                    {item.status === 'waiting' ? 'waits' : time(item.updated_at)}
                  </span>
                </Link>
              ))}
            </>
          )}
        </nav>
        {making || empty ? (
          <NewAgent close={() => setMaking(false)} first={empty} />
        ) : session === undefined || agent === undefined ? (
          <Empty title={agent === undefined ? 'Reading the agents' : 'No session yet'}>
            {agent === undefined ? null : <Button onClick={start}>Begin one</Button>}
          </Empty>
        ) : (
          <Chat key={session.id} session={session} agentName={agent.name} />
        )}
        {agent === undefined ? <aside className="cmp" /> : <MadeOf agent={agent} />}
      </div>
    </div>
  );
}
