import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { adapterQuery, sessionQuery } from '../../api/queries.ts';
import { time } from '../../base/format.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { type Adapters, type Auth, adaptersQuery, authQuery, type Detection, detectQuery } from './data.ts';

type Adapter = Adapters['items'][number];
const WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
const word = (many: number): string => WORDS[many] ?? String(many);

/** The agents that can be run: which version is here, what it runs on, whether it is logged in, and how it thinks. */
export function Agents(): JSX.Element {
  const adapters = useQuery(adaptersQuery);
  const items = adapters.data?.items ?? [];
  const detected = useQueries({ queries: items.map(({ agent }) => detectQuery(agent)) });
  const installed = detected.filter(({ data }) => data?.installed === true).length;
  const last = Math.max(0, ...detected.map(({ dataUpdatedAt }) => dataUpdatedAt));
  return (
    <section aria-label="The coding agents">
      <div className="ph">
        <h2 className="grow">
          {word(items.length)} agents, {installed === 0 ? 'none' : word(installed).toLowerCase()} installed
        </h2>
        <span className="mute s">{last === 0 ? 'looking' : `checked ${time(last)}`}</span>
      </div>
      <table aria-label="Coding agents">
        <thead>
          <tr>
            <th>Agent</th>
            <th>Version</th>
            <th>Runs on</th>
            <th>Thinking</th>
          </tr>
        </thead>
        <tbody>
          {items.map((adapter, index) => (
            <AgentRow key={adapter.agent} adapter={adapter} found={detected[index]?.data} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Levels as the profile lists them, in few words. */
function thinkingOf({ capabilities }: Adapter): string {
  const levels: unknown = capabilities.thinkingEffortLevels;
  if (capabilities.supportsThinking !== true) return 'none';
  if (!Array.isArray(levels) || levels.length === 0) return capabilities.supportsThinkingBudgetTokens === true ? 'budget' : 'by model';
  return levels.length === 1 ? String(levels[0]) : `${String(levels[0])} to ${String(levels.at(-1))}`;
}

function runsOn(auth: Auth | undefined, unserved: string | undefined): { readonly words: string; readonly tone: string } {
  if (unserved !== undefined) return { words: 'its own service alone', tone: 'warn' };
  if (auth?.status === 'authenticated') return { words: 'any engine, or its own login', tone: '' };
  return { words: 'any engine', tone: '' };
}

function AgentRow({ adapter, found }: { readonly adapter: Adapter; readonly found: Detection | undefined }): JSX.Element {
  const { agent, displayName } = adapter;
  const here = found?.installed === true;
  const session = useQuery(sessionQuery);
  const may = session.data?.scopes.includes('settings') === true;
  const auth = useQuery({ ...authQuery(agent), enabled: here && may });
  const detail = useQuery({ ...adapterQuery(agent), enabled: here });
  const on = runsOn(auth.data, detail.data?.traffic.unserved);
  return (
    <tr>
      <td className={here ? 'md' : 'mute'}>
        <i className={here ? (found.problem === undefined ? 'dot ok' : 'dot warn') : 'dot off'} /> {displayName}
      </td>
      <td className="m" title={found?.untested ?? found?.problem}>
        {here ? (found.version ?? 'unknown') : <span className="mute s">{found === undefined ? '' : 'not installed'}</span>}
      </td>
      <td className={`s ${on.tone}`}>{here ? on.words : ''}</td>
      <td className="s">{here || found === undefined ? thinkingOf(adapter) : <Install agent={agent} may={may} />}</td>
    </tr>
  );
}

function Install({ agent, may }: { readonly agent: string; readonly may: boolean }): JSX.Element {
  const client = useQueryClient();
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle');
  const install = (): void => {
    setState('busy');
    send('POST', `/v1/adapters/${agent}/install`, {}).then(
      () => client.invalidateQueries({ queryKey: ['detect', agent] }),
      (error: unknown) => setState(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return (
    <div className="r">
      <Button
        acts
        small
        onClick={install}
        disabled={state === 'busy'}
        locked={may ? undefined : 'this needs a signed-in browser: abp console prints a link'}
      >
        {state === 'busy' ? 'Installing' : 'Install'}
      </Button>
      {state instanceof Error ? <ErrorBand error={state} /> : null}
    </div>
  );
}
