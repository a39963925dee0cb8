import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { agentNamesQuery, sessionQuery } from '../../api/queries.ts';
import { isCall } from '../../api/receipts.ts';
import type { RunRow } from '../../api/types.ts';
import { count, duration } from '../../base/format.ts';
import { FateCounts, FateStrip } from '../fate/fate.tsx';
import { Icon } from '../icon/icon.tsx';

const PLANES: Readonly<Record<string, string>> = { gateway: 'gw', run: 'term', agent: 'agent' };

export function PlaneIcon({ plane }: { readonly plane: string }): JSX.Element {
  return <Icon name={PLANES[plane] ?? 'gw'} label={plane} />;
}

/** Who called whom: `claude → gemini gemini-2.5-pro`, or the coding agent and what it runs on. */
export function RunTitle({ row }: { readonly row: RunRow }): JSX.Element {
  const model = row.upstream_model ?? row.model;
  if (isCall(row)) {
    return (
      <>
        <span className="md">
          {row.dialect ?? (row.plane === 'agent' ? 'turn' : 'unknown')} → {row.engine ?? 'nobody'}
        </span>{' '}
        <code className="mute">{model}</code>
      </>
    );
  }
  return (
    <>
      <span className="md">{row.plane === 'agent' ? <TurnOf row={row} /> : (row.agent ?? row.task)}</span>{' '}
      {row.plane === 'agent' ? 'turn' : `on ${row.engine ?? 'its own engine'}`} <code className="mute">{model}</code>
    </>
  );
}

/** A turn knows its agent by its id; people know its name. */
function TurnOf({ row }: { readonly row: RunRow }): JSX.Element {
  const session = useQuery(sessionQuery);
  // A paired browser may not read agents.
  const names = useQuery({ ...agentNamesQuery, enabled: session.data !== undefined && session.data.principal !== 'paired' });
  return <>{names.data?.get(row.agent ?? '') ?? row.agent ?? row.task}</>;
}

export function ModeGlyph({ mode }: { readonly mode: RunRow['mode'] }): JSX.Element | null {
  if (mode === null) return null;
  const mapped = mode === 'mapped';
  return (
    <span className={mapped ? 'mode mp' : 'mode'} title={mode}>
      <Icon name={mapped ? 'map' : 'pass'} label={mode} />
    </span>
  );
}

/** Bytes equal, or the strip and what is news in it. */
export function Fidelity({ row }: { readonly row: RunRow }): JSX.Element {
  if (!isCall(row)) return <span className="mute s">sum of calls</span>;
  if (row.mode === 'passthrough')
    return row.error === null ? <span className="eq s">bytes equal</span> : <span className="mute s">no answer</span>;
  if (row.fates.every((many) => many === 0)) return <span className="mute s">–</span>;
  return (
    <span className="row">
      <FateStrip fates={row.fates} />
      <FateCounts fates={row.fates} />
    </span>
  );
}

/** The longest run that fills the bar; the scale is that of square roots, the same for all rows. */
const FULL_MS = 15_000;

export function DurationBar({ row }: { readonly row: RunRow }): JSX.Element {
  const total = row.total_ms ?? 0;
  const width = Math.min(100, Math.sqrt(total / FULL_MS) * 100);
  const first = total === 0 ? 0 : Math.min(100, ((row.first_byte_ms ?? total) / total) * 100);
  return (
    <span className="dur" aria-hidden="true">
      <b style={{ width: `${Math.max(width, 2)}%` }}>
        <i style={{ width: `${first}%` }} />
      </b>
    </span>
  );
}

export function Tokens({ row }: { readonly row: RunRow }): JSX.Element {
  if (row.tokens === null) return <>–</>;
  return (
    <>
      {count(row.tokens.in)} <span className="mute">/</span> {count(row.tokens.out)}
    </>
  );
}

export function Took({ row, now }: { readonly row: RunRow; readonly now?: number }): JSX.Element {
  if (row.total_ms !== null) return <>{duration(row.total_ms)}</>;
  return <>{now === undefined ? '' : duration(Math.max(0, now - Date.parse(row.started_at)))}</>;
}
