import type { JSX } from 'react';
import type { RunRow } from '../../api/types.ts';
import type { Specimen } from '../../base/specimen.ts';
import { DurationBar, Fidelity, ModeGlyph, PlaneIcon, RunTitle, Tokens, Took } from './run-line.tsx';

const CALL: RunRow = {
  run_id: 'run_01a1e125ae8c7069a12b2a7f1a7a3fee',
  parent_run_id: null,
  plane: 'gateway',
  status: 'completed',
  reason: null,
  task: 'POST /v1/messages → gemini',
  backend: 'engine:gemini',
  engine: 'gemini',
  model: 'gemini-2.5-pro',
  started_at: '2026-11-18T21:30:19.208Z',
  completed_at: '2026-11-18T21:30:21.618Z',
  key_id: null,
  tags: [],
  dialect: 'claude',
  mode: 'mapped',
  agent: null,
  upstream_model: 'gemini-2.5-pro',
  key_name: null,
  tokens: { in: 18_400, out: 396, cache_read: 0, thinking: 118 },
  cost_nano_usd: 27_000_000,
  first_byte_ms: 611,
  total_ms: 2410,
  fates: [4, 12, 3, 2, 0],
  error: null,
  children: null,
  waiting: false,
  sequence: 48_211,
};

function Line({ row }: { readonly row: RunRow }): JSX.Element {
  return (
    <p className="row">
      <PlaneIcon plane={row.plane} /> <RunTitle row={row} /> <ModeGlyph mode={row.mode} /> <Fidelity row={row} /> <Tokens row={row} />{' '}
      <DurationBar row={row} /> <Took row={row} />
    </p>
  );
}

export const states: readonly Specimen[] = [
  { name: 'a mapped call with losses', shows: <Line row={CALL} /> },
  { name: 'passed through', shows: <Line row={{ ...CALL, mode: 'passthrough', engine: 'claude', fates: [0, 0, 0, 0, 0] }} /> },
  {
    name: 'without an answer',
    shows: <Line row={{ ...CALL, mode: 'passthrough', status: 'failed', error: { code: 'engine_failed', message: 'no' }, tokens: null }} />,
  },
  {
    name: 'a coding agent',
    shows: <Line row={{ ...CALL, plane: 'run', mode: null, agent: 'claude', dialect: null, fates: [0, 0, 0, 0, 0] }} />,
  },
  {
    name: 'a turn of an agent',
    shows: <Line row={{ ...CALL, plane: 'agent', mode: null, agent: 'agent_1', dialect: null, fates: [0, 0, 0, 0, 0] }} />,
  },
];
