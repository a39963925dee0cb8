import { expect, it } from 'vitest';
import { openFact } from '../../test/support/facts.ts';
import { newRunId } from '../contract/run-id.ts';
import type { Fact } from '../receipts/journal/facts.ts';
import { LiveRuns } from './live-runs.ts';
import { Recorder } from './recorder.ts';

it('a stream that a stopping server cuts was interrupted by us, and is not said to be cancelled by its caller', () => {
  const facts: Fact[] = [];
  const live = new LiveRuns();
  const recorders = { sink: { append: (fact: Fact) => void facts.push(fact) }, batch: { close: () => undefined }, live };
  const [gone, cut] = [new Recorder(recorders, newRunId()), new Recorder(recorders, newRunId())];
  const ending = { status: 'cancelled', reason: 'client_closed', error: null, response: null, eventCount: 2 } as const;
  for (const one of [gone, cut]) one.open(openFact());
  gone.close(ending);
  live.cut();
  cut.close(ending);
  expect(facts.filter(({ fact }) => fact === 'close')).toMatchObject([
    { status: 'cancelled', reason: 'client_closed', error: null },
    { status: 'failed', reason: 'interrupted', error: { code: 'internal', message: 'the server was stopped before the answer had ended' } },
  ]);
});
