import type { RunRow } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import type { Bar, Lane } from '../../components/timeline/timeline.tsx';
import type { Step } from './steps.ts';

/** When a run began and how far it has come, in milliseconds of the clock. */
export interface Span {
  readonly began: number;
  readonly until: number;
}

interface Piece {
  readonly from: number;
  readonly to: number;
}

const lengthOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0);

/** What is left of a time when the pieces are taken away. */
function left(total: number, pieces: readonly Piece[]): Piece[] {
  const gaps: Piece[] = [];
  let at = 0;
  for (const { from, to } of pieces.toSorted((a, b) => a.from - b.from)) {
    if (from > at) gaps.push({ from: at, to: from });
    at = Math.max(at, to);
  }
  if (at < total) gaps.push({ from: at, to: total });
  return gaps;
}

/** The step that a model call led to: the first one that was told after the call had begun to answer. */
export function stepOfCall(call: RunRow, steps: readonly Step[]): Step | undefined {
  const end = Date.parse(call.started_at) + (call.total_ms ?? 0);
  return steps.find(({ at, kind }) => kind !== 'turn' && at >= end - 5) ?? steps.at(-1);
}

/** Lanes of a run: the model, the tools, waiting for a person, and the agent itself. They may overlap; their sums are never added up. */
export function runLanes(steps: readonly Step[], calls: readonly RunRow[], { began, until }: Span): readonly Lane[] {
  const model = calls.map((call): Bar => {
    const from = Date.parse(call.started_at) - began;
    const id = stepOfCall(call, steps)?.id;
    return { from, to: from + (call.total_ms ?? until - began - from), kind: 'model', title: call.upstream_model ?? '', ...(id && { id }) };
  });
  const waits = steps.flatMap(({ id, title, asked }): Bar[] =>
    asked === null ? [] : [{ id, from: asked.at - began, to: (asked.end ?? until) - began, kind: 'wait', title }],
  );
  const tools = steps
    .filter(({ kind, asked }) => kind === 'tool' && asked?.state !== 'waiting')
    .map(
      ({ id, at, end, title, asked }): Bar => ({ id, from: (asked?.end ?? at) - began, to: (end ?? until) - began, kind: 'tool', title }),
    );
  const own = left(until - began, [...model, ...waits, ...tools]).map((gap): Bar => ({ ...gap, kind: 'silent' }));
  const lane = (name: string, bars: readonly Bar[]): Lane => ({ name, bars, sum: bars.length === 0 ? '–' : duration(lengthOf(bars)) });
  return [lane('Model', model), lane('Tools', tools), lane('You', waits), lane('Agent itself', own)];
}
