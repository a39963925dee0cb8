import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { enginesQuery } from '../../api/queries.ts';
import type { Engine } from '../../api/types.ts';
import { duration, time } from '../../base/format.ts';
import { parsed } from '../../base/parsed.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { Values } from './values.tsx';

const WHOSE: Readonly<Record<string, string>> = { key: 'a key of this server', caller: 'the caller’s own', none: 'none needed' };

export function EngineSettings({ may }: { readonly may: boolean }): JSX.Element {
  const engines = useQuery(enginesQuery);
  return (
    <>
      <p className="note">
        A key comes from the environment or from <code>abp.toml</code>. <i>Check</i> sends a token count where the engine has one, which
        costs nothing.
      </p>
      <ErrorBand error={engines.error} retry={() => void engines.refetch()} />
      <table aria-label="Engines" className="stacks">
        <thead>
          <tr>
            <th>Engine</th>
            <th>Credential</th>
            <th>Variable</th>
            <th>Speaks</th>
            <th>State</th>
            <th>
              <span className="sr">Check</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(engines.data?.items ?? []).map((engine) => (
            <tr key={engine.id}>
              <td className="md">{engine.name}</td>
              <td>{WHOSE[engine.auth]}</td>
              <td className="m mute">{engine.key_variable ?? '–'}</td>
              <td className="m">{engine.dialects.join(', ')}</td>
              <td className={engine.health?.state === 'open' ? 'bad' : 'mute'}>{stateOf(engine)}</td>
              <td className="r">
                <Check engine={engine} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {may ? (
        <>
          <h2>Set for them</h2>
          <Values prefixes={['engines.']} />
        </>
      ) : null}
    </>
  );
}

function stateOf({ health }: Engine): string {
  if (health === null) return 'inside this process';
  if (health.state === 'open') return `left alone: ${health.last_failure ?? ''}`;
  return health.last_success_at === null ? 'not called yet' : `answered ${time(health.last_success_at)}`;
}

const GEMINI_MODEL = 'gemini-2.5-flash';
const QUESTION = 'How many tokens is this?';

/** Where an engine counts tokens, and how it is asked; undefined where it does not. */
function counterOf({ id, dialects }: Engine): { readonly path: string; readonly body: object } | undefined {
  if (dialects.includes('claude')) {
    const body = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: QUESTION }] };
    return { path: `/e/${id}/v1/messages/count_tokens`, body };
  }
  if (!dialects.includes('gemini')) return undefined;
  return {
    path: `/e/${id}/v1beta/models/${GEMINI_MODEL}:countTokens`,
    body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] },
  };
}

/** Asks the engine for a token count and says how it went. */
function Check({ engine }: { readonly engine: Engine }): JSX.Element {
  const client = useQueryClient();
  const [said, setSaid] = useState<readonly [string, string] | null>(null);
  const counter = counterOf(engine);
  const check = async (): Promise<void> => {
    if (counter === undefined) return;
    const began = performance.now();
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    const answer = await fetch(counter.path, { method: 'POST', headers, body: JSON.stringify(counter.body) });
    const text = await answer.text();
    const took = duration(performance.now() - began);
    setSaid(answer.ok ? ['ok', `answers, ${took}`] : ['bad', new ApiError(answer.status, parsed(text), null).message]);
    await client.invalidateQueries({ queryKey: ['engines'] });
  };
  return (
    <span className="row end">
      {said === null ? null : <output className={`${said[0]} s el said`}>{said[1]}</output>}
      <Button
        acts
        small
        onClick={() => {
          setSaid(null);
          check().catch((error: unknown) => setSaid(['bad', error instanceof Error ? error.message : String(error)]));
        }}
        locked={counter === undefined ? 'It counts no tokens, so there is nothing to ask it for free.' : undefined}
      >
        Check
      </Button>
    </span>
  );
}
