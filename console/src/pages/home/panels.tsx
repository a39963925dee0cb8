import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { enginesQuery, matrixQuery } from '../../api/queries.ts';
import type { Engine, RunRow, Usage } from '../../api/types.ts';
import { count, duration, sumCost } from '../../base/format.ts';
import { useUrlChoice, useUrlState } from '../../base/url-state.ts';
import { Select } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { ModeGlyph } from '../../components/run-line/run-line.tsx';
import { DIALECTS, SDKS, SdkChoice, Snippet } from '../../components/snippet/snippet.tsx';
import { enginesUsageQuery, seenQuery } from './data.ts';

const CREDENTIALS: Readonly<Record<string, string>> = { key: 'key', caller: 'caller’s own', none: 'none needed' };

const MOST_ENGINES = 17;

/** Those that fail come first, then those in use, then those that could be used at once. */
function weightOf(engine: Engine, group: Usage['groups'][number] | undefined): number {
  if (engine.health?.state === 'open') return Number.MAX_SAFE_INTEGER;
  return (group?.runs?.[0] ?? 0) * 10 + (engine.auth === 'key' ? 2 : engine.id === 'sim' ? 1 : 0);
}

export function EnginePanel(): JSX.Element {
  const engines = useQuery(enginesQuery);
  const usage = useQuery(enginesUsageQuery);
  const groups = new Map(usage.data?.groups.map((group) => [group.key.engine, group]));
  const all = (engines.data?.items ?? []).toSorted((a, b) => weightOf(b, groups.get(b.id)) - weightOf(a, groups.get(a.id)));
  const [shown, rest] = [all.slice(0, MOST_ENGINES), all.slice(MOST_ENGINES)];
  return (
    <section className="panel engines o4" aria-label="Engines, last 24 hours">
      <div className="ph">
        <h2 className="grow">Engines, last 24 h</h2>
        <Link to="/settings/$section" params={{ section: 'engines' }} className="s ink2">
          Settings
        </Link>
      </div>
      <table aria-label="Engines, last 24 h">
        <thead>
          <tr>
            <th>Engine</th>
            <th className="c-s">Credential</th>
            <th className="r">Calls</th>
            <th className="r">First byte</th>
            <th className="r">Cost</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((engine) => (
            <EngineRow key={engine.id} engine={engine} group={groups.get(engine.id)} />
          ))}
        </tbody>
      </table>
      {rest.length === 0 ? null : <p className="pad mute s">and {rest.map(({ id }) => id).join(', ')}, not used yet</p>}
    </section>
  );
}

function EngineRow({ engine, group }: { readonly engine: Engine; readonly group: Usage['groups'][number] | undefined }): JSX.Element {
  const calls = group?.runs?.[0] ?? 0;
  const open = engine.health?.state === 'open';
  const first = group?.first_byte_ms?.p50[0] ?? null;
  return (
    <tr>
      <td>
        <i className={open ? 'dot bad' : calls > 0 ? 'dot ok' : 'dot off'} /> <b className="md">{engine.id}</b>
      </td>
      <td className="mute c-s">{CREDENTIALS[engine.auth]}</td>
      {open ? (
        <td className="bad r s" colSpan={3}>
          left alone, {engine.health?.failures_in_a_row} failures
        </td>
      ) : (
        <>
          <td className="m r">{count(calls)}</td>
          <td className="m r">{first === null ? '–' : duration(first)}</td>
          <td className="m r">{calls === 0 ? '–' : sumCost(group?.cost_nano_usd?.[0] ?? 0, group?.unpriced?.[0] ?? 0)}</td>
        </>
      )}
    </tr>
  );
}

export function Point(): JSX.Element {
  const engines = useQuery(enginesQuery);
  const matrix = useQuery(matrixQuery);
  const [state, change] = useUrlState();
  const engine = state.engine ?? 'sim';
  const [sdk, setSdk] = useUrlChoice('sdk', SDKS);
  const mode = matrix.data?.cells.find((cell) => cell.engine === engine && cell.dialect === DIALECTS[sdk])?.mode ?? null;
  return (
    <section className="panel hide-s point" aria-label="Point something here">
      <div className="ph">
        <h2 className="grow">Point something here</h2>
        <SdkChoice few value={sdk} onChange={setSdk} />
      </div>
      <Snippet engine={engine} sdk={sdk} short />
      <div className="row pad">
        <span className="mute">Engine</span>
        <Select
          label="Engine"
          value={engine}
          onChange={(next) => change({ engine: next }, { replace: true })}
          options={(engines.data?.items ?? []).map(({ id }) => [id, id] as const)}
        />
        <ModeGlyph mode={mode} />
        <span className={mode === 'passthrough' ? 'ok' : 'live'}>
          {mode === 'passthrough' ? 'passthrough, bytes unchanged' : 'mapped, every field has a fate'}
        </span>
      </div>
    </section>
  );
}

/** Ticked by what the server has seen; goes away when all are done. */
export function TryNext({ rows }: { readonly rows: readonly RunRow[] }): JSX.Element | null {
  const seen = useQuery(seenQuery).data;
  const has = (test: (group: Usage['groups'][number]['key']) => boolean): boolean =>
    seen?.usage.groups.some(({ key }) => test(key)) ?? false;
  const steps = [
    {
      ...{ text: 'Call the built-in model', more: 'any SDK, no key' },
      ...{ done: has(({ engine }) => engine === 'sim'), to: '/playground', act: 'Try' },
    },
    {
      ...{ text: 'See what a request would lose on another engine', more: 'every field has a fate' },
      ...{ done: has(({ mode }) => mode === 'mapped'), to: '/playground', act: 'Explain' },
    },
    {
      ...{ text: 'Run a coding agent on another engine', more: 'with a yes or no for what it wants' },
      ...{ done: seen?.run === true, to: '/coding', act: 'Start' },
    },
    {
      ...{ text: 'Talk to an agent of your own', more: 'made of capabilities, with a receipt for every turn' },
      ...{ done: seen?.agent === true, to: '/agents', act: 'Make one' },
    },
    {
      ...{ text: 'Give a colleague a key with a limit', more: 'engines, budget, end' },
      ...{ done: rows.some(({ key_id }) => key_id !== null), to: '/settings/keys', act: 'New key' },
    },
  ];
  if (seen === undefined || steps.every(({ done }) => done)) return null;
  return (
    <section className="panel hide-s" aria-label="Try next">
      <div className="ph">
        <h2 className="grow">{rows.length === 0 ? 'First steps' : 'Try next'}</h2>
        <span className="mute s">
          {steps.filter(({ done }) => done).length} of {steps.length}
        </span>
      </div>
      {steps.map(({ text, more, done, to, act }, index) => (
        <div key={text} className="st">
          {done ? (
            <span className="ok">
              <Icon name="check" label="done" />
            </span>
          ) : (
            <span className="no">{index + 1}</span>
          )}
          <div className={done ? 'mute' : ''}>
            {text}
            {done ? null : <div className="mute s">{more}</div>}
          </div>
          {done ? null : (
            <a className="btn sm" href={to}>
              {act}
            </a>
          )}
        </div>
      ))}
    </section>
  );
}
