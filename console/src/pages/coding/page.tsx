import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { sessionQuery } from '../../api/queries.ts';
import { cost, duration } from '../../base/format.ts';
import { Button, ErrorBand, StatusGlyph, useNow } from '../../components/bits/bits.tsx';
import { adaptersQuery, type Detection, detectQuery, runningQuery } from './data.ts';
import { Inbox } from './inbox.tsx';
import { NewRun } from './new-run.tsx';
import { Pairing } from './pairing.tsx';
import './page.css';
import './more.css';

/** What waits for a yes, what runs, and what can be started. On a phone the inbox alone. */
export function Page(): JSX.Element {
  const alone = useRouterState({ select: (state) => state.location.pathname === '/inbox' });
  return (
    <div className={alone ? 'p-coding fill alone' : 'p-coding fill'}>
      <div className="wrap">
        <Inbox />
        <aside className="side scroll" aria-label="Coding agents">
          <Running />
          <Agents />
          <NewRun />
          <Pairing />
        </aside>
      </div>
    </div>
  );
}

function Running(): JSX.Element {
  const runs = useQuery(runningQuery);
  const live = (runs.data?.items ?? []).filter(({ completed_at }) => completed_at === null);
  const recent = (runs.data?.items ?? []).filter(({ completed_at }) => completed_at !== null).slice(0, 3);
  const now = useNow(live.length > 0);
  return (
    <section aria-label="Running">
      <div className="ph">
        <h2 className="grow">{live.length} running</h2>
      </div>
      {[...live, ...recent].map((row) => (
        <Link key={row.run_id} className="rn" to="/runs/$run" params={{ run: row.run_id }}>
          <StatusGlyph status={row.status} waiting={row.waiting} />
          <span className="el">
            <b className="md">{row.agent}</b> <span className="mute">on {row.engine ?? 'its own engine'} ·</span> {row.task}
          </span>
          <span className={row.waiting ? 'warn s' : 'mute s'}>{row.waiting ? 'waits' : row.status}</span>
          <span />
          <code className="mute el">
            {row.upstream_model ?? row.model ?? ''} · {duration(row.total_ms ?? now - Date.parse(row.started_at))} · {row.children ?? 0}{' '}
            calls
          </code>
          <code className="r">{row.cost_nano_usd === null ? '–' : cost(row.cost_nano_usd)}</code>
        </Link>
      ))}
    </section>
  );
}

function Agents(): JSX.Element {
  const adapters = useQuery(adaptersQuery);
  const names = (adapters.data?.items ?? []).map(({ agent }) => agent);
  const detected = useQueries({ queries: names.map(detectQuery) });
  const installed = detected.filter(({ data }) => data?.installed === true).length;
  return (
    <section aria-label="The coding agents">
      <div className="ph">
        <h2 className="grow">
          {names.length} agents, {installed} installed
        </h2>
      </div>
      <table>
        <thead>
          <tr>
            <th>Agent</th>
            <th>Version</th>
            <th>Runs on</th>
            <th>
              <span className="sr">Install</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(adapters.data?.items ?? []).map(({ agent, displayName }, index) => (
            <AgentRow key={agent} agent={agent} name={displayName} found={detected[index]?.data} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function AgentRow({
  agent,
  name,
  found,
}: {
  readonly agent: string;
  readonly name: string;
  readonly found: Detection | undefined;
}): JSX.Element {
  const client = useQueryClient();
  const session = useQuery(sessionQuery);
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle');
  const may = session.data?.scopes.includes('settings') === true;
  const install = (): void => {
    setState('busy');
    send('POST', `/v1/adapters/${agent}/install`, {}).then(
      () => client.invalidateQueries({ queryKey: ['detect', agent] }),
      (error: unknown) => setState(error instanceof Error ? error : new Error(String(error))),
    );
  };
  const here = found?.installed === true;
  return (
    <tr>
      <td className={here ? 'md' : 'mute'}>
        <i className={here ? 'dot ok' : 'dot off'} /> {name}
      </td>
      <td className="m">{here ? (found.version ?? 'unknown') : found === undefined ? '' : 'not installed'}</td>
      <td className="mute">{here ? 'any engine' : ''}</td>
      <td className="r">
        {here || found === undefined ? null : (
          <Button
            small
            onClick={install}
            disabled={state === 'busy'}
            locked={may ? undefined : 'this needs a signed-in browser: abp console prints a link'}
          >
            {state === 'busy' ? 'Installing' : 'Install'}
          </Button>
        )}
        {state instanceof Error ? <ErrorBand error={state} /> : null}
      </td>
    </tr>
  );
}
