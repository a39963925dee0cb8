import type { JSX } from 'react';
import type { RunRow } from '../../api/types.ts';
import { cost, many, shortId, time } from '../../base/format.ts';
import { StatusGlyph } from '../../components/bits/bits.tsx';
import { DurationBar, Fidelity, ModeGlyph, PlaneIcon, RunTitle, Tokens, Took } from '../../components/run-line/run-line.tsx';

export const HEAD = [
  { key: 'status', text: '' },
  { key: 'started', text: 'Started' },
  { key: 'who', text: 'Caller, engine, model' },
  { key: 'mode', text: '' },
  { key: 'fidelity', text: 'Fidelity', title: 'exact and renamed fields are no news and are not counted' },
  { key: 'tokens', text: 'Tokens in / out', right: true },
  { key: 'time', text: 'First byte, total', title: 'dark: until the first byte; the bars are on one square-root scale' },
  { key: 'cost', text: 'Cost', right: true },
  { key: 'key', text: 'Key' },
  { key: 'run', text: 'Run' },
] as const;

interface RunCellsProps {
  readonly row: RunRow;
  readonly now: number;
  /** Stands below the run that asked for it. */
  readonly below: boolean;
}

/** One run in one line. What failed says why in place of tokens, time and cost. */
export function RunCells({ row, now, below }: RunCellsProps): JSX.Element {
  return (
    <>
      <span role="gridcell" className="c-st">
        <StatusGlyph status={row.status} waiting={row.waiting} />
      </span>
      <span role="gridcell" className="m mute c-time" title={row.started_at}>
        {time(row.started_at)}
      </span>
      <span role="gridcell" className="c-who">
        {below ? <i className="el-b" /> : null}
        <PlaneIcon plane={row.plane} /> <RunTitle row={row} />
        {row.children === null || row.children === 0 ? null : <span className="tag">{many(row.children, 'call')}</span>}
      </span>
      <span role="gridcell" className="c-mode">
        <ModeGlyph mode={row.mode} />
      </span>
      <span role="gridcell" className="c-fid">
        <Fidelity row={row} />
      </span>
      {row.error === null || row.error.message === '' ? <Figures row={row} now={now} /> : <Failure error={row.error} />}
      <span role="gridcell" className="mute s c-key">
        {keyOf(row)}
      </span>
      <span role="gridcell" className="m mute c-id" title={row.run_id}>
        {shortId(row.run_id)}
      </span>
    </>
  );
}

/** The name of a key, and of one that is gone the end of its id. */
export function keyOf({ key_name, key_id }: RunRow): string {
  return key_name ?? (key_id === null ? '' : `…${key_id.slice(-6)}`);
}

function Figures({ row, now }: { readonly row: RunRow; readonly now: number }): JSX.Element {
  return (
    <>
      <span role="gridcell" className="m r c-tok">
        <Tokens row={row} />
      </span>
      <span role="gridcell" className="c-dur row">
        {row.plane === 'gateway' && row.total_ms !== null ? <DurationBar row={row} /> : <span className="dur" />}
        <span className="m r grow">
          <Took row={row} now={now} />
        </span>
      </span>
      <span role="gridcell" className={`m r c-cost${row.cost_nano_usd === null ? ' mute' : ''}`}>
        {row.tokens === null && row.cost_nano_usd === null ? '–' : cost(row.cost_nano_usd)}
      </span>
    </>
  );
}

function Failure({ error }: { readonly error: { readonly code: string; readonly message: string } }): JSX.Element {
  return (
    <span role="gridcell" className="bad c-err" title={error.message}>
      <b>{error.code}</b> {error.message}
    </span>
  );
}
