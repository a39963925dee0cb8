import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { type JSX, useRef } from 'react';
import { interactionsQuery } from '../../api/interactions.ts';
import { reportQuery } from '../../api/receipts.ts';
import { duration } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Button, StatusGlyph, useNow } from '../../components/bits/bits.tsx';
import { SpentBar } from '../../components/budget-bar/budget-bar.tsx';
import { Pairing } from '../../components/pairing/pairing.tsx';
import { Agents } from './agents-table.tsx';
import { runningQuery } from './data.ts';
import { Inbox } from './inbox.tsx';
import { NewRun } from './new-run.tsx';
import './page.css';
import './more.css';

/** What waits for a yes, what runs, and what can be started. On a phone the inbox alone. */
export function Page(): JSX.Element {
  const alone = useRouterState({ select: (state) => state.location.pathname === '/inbox' });
  const form = useRef<HTMLTextAreaElement>(null);
  const toForm = (): void => form.current?.focus();
  useKeys({ n: toForm }, !alone);
  return (
    <div className={alone ? 'p-coding fill alone' : 'p-coding fill'}>
      <div className="wrap">
        <Inbox />
        {alone ? null : (
          <aside className="side scroll" aria-label="Coding agents">
            <Running newRun={toForm} />
            <Agents />
            <NewRun form={form} />
            <div className="ph">
              <h2>Answer from a phone</h2>
            </div>
            <div className="pad">
              <Pairing />
            </div>
          </aside>
        )}
      </div>
    </div>
  );
}

function Running({ newRun }: { newRun(): void }): JSX.Element {
  const runs = useQuery(runningQuery);
  const open = useQuery(interactionsQuery);
  const live = (runs.data?.items ?? []).filter(({ completed_at }) => completed_at === null);
  const recent = (runs.data?.items ?? []).filter(({ completed_at }) => completed_at !== null).slice(0, 3);
  const now = useNow(live.length > 0);
  const prompts = useQueries({ queries: [...live, ...recent].map(({ run_id }) => reportQuery(run_id)) });
  const waitsFor = (run: string): string => {
    const asked = open.data?.items.find(({ run_id }) => run_id === run);
    return asked === undefined ? 'waits' : `waits: ${asked.tool ?? 'an answer'}`;
  };
  const budgetOf = (run: string): number | null => open.data?.items.find(({ run_id }) => run_id === run)?.budget_nano_usd ?? null;
  return (
    <section aria-label="Running">
      <div className="ph first">
        <h2 className="grow">{live.length === 0 ? 'Nothing runs' : `${live.length} running`}</h2>
        <Button look="primary" icon="plus" keys="N" onClick={newRun}>
          New run
        </Button>
      </div>
      {[...live, ...recent].map((row, index) => {
        const budget = budgetOf(row.run_id);
        return (
          <Link key={row.run_id} className="rn" to="/runs/$run" params={{ run: row.run_id }}>
            <StatusGlyph status={row.status} waiting={row.waiting} />
            <div className="row">
              <span className="el grow">
                <b className="md">{row.agent}</b> <span className="mute">on {row.engine ?? 'its own engine'} ·</span>{' '}
                {prompts[index]?.data?.prompt ?? row.task}
              </span>
              <span className={row.waiting ? 'warn s nw' : row.completed_at === null ? 'live s nw' : 'mute s nw'}>
                {row.waiting ? waitsFor(row.run_id) : row.status}
              </span>
            </div>
            <div className="row">
              <code className="mute el grow">
                {row.upstream_model ?? row.model ?? ''} · {duration(row.total_ms ?? now - Date.parse(row.started_at))} · {row.children ?? 0}{' '}
                {row.children === 1 ? 'call' : 'calls'}
              </code>
              <SpentBar spent={row.cost_nano_usd} limit={budget} />
            </div>
          </Link>
        );
      })}
    </section>
  );
}
