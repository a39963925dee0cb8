import { describe, expect, it } from 'vitest';
import { openFact, runIdOf } from '../../../test/support/facts.ts';
import { newRunId } from '../../contract/run-id.ts';
import { RunWatch } from './run-watch.ts';
import { parseTraceparent, samplingOf, TraceContexts } from './trace-contexts.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`cc-${TRACE}-${SPAN}-03-what-comes-later`, true],
  ])('is read: %s', (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled, state: undefined });
  });

  it.each([
    undefined,
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  ])('is none: %s', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});

describe('the place of a run in a trace', () => {
  function watched(): { contexts: TraceContexts; begin(parent?: string): ReturnType<typeof newRunId> } {
    const contexts = new TraceContexts(samplingOf({ sampler: 'parentbased_always_on', sample_ratio: 1 }));
    const watch = new RunWatch((error) => {
      throw error;
    });
    watch.add(contexts);
    const begin = (parent?: string): ReturnType<typeof newRunId> => {
      const run = newRunId();
      watch.hear(openFact({ run, parent: parent === undefined ? null : runIdOf(parent) }));
      return run;
    };
    return { contexts, begin };
  }

  it('follows from its own id where nobody says more', () => {
    const { contexts, begin } = watched();
    const run = begin();
    const hex = run.slice('run_'.length);
    expect(contexts.of(run)).toEqual({ traceId: hex, spanId: hex.slice(16), parentSpanId: undefined, sampled: true, state: undefined });
  });

  it('is below the run that it is part of', () => {
    const { contexts, begin } = watched();
    const parent = begin();
    const run = begin(parent);
    expect(contexts.of(run)).toMatchObject({ traceId: contexts.of(parent)?.traceId, parentSpanId: contexts.of(parent)?.spanId });
  });

  it('is below the step that an agent names, if that belongs to the trace of its run, and else below the run', () => {
    const { contexts, begin } = watched();
    const parent = begin();
    const own = contexts.of(parent)?.traceId ?? '';
    const watch = new RunWatch((error) => {
      throw error;
    });
    watch.add(contexts);
    const [known, foreign] = [newRunId(), newRunId()];
    contexts.arrived(known, { traceparent: `00-${own}-${SPAN}-01` });
    contexts.arrived(foreign, { traceparent: `00-${TRACE}-${SPAN}-01` });
    for (const run of [known, foreign]) watch.hear(openFact({ run, parent }));
    expect(contexts.of(known)).toMatchObject({ traceId: own, parentSpanId: SPAN });
    expect(contexts.of(foreign)).toMatchObject({ traceId: own, parentSpanId: contexts.of(parent)?.spanId });
  });

  it('does not remember requests that became no run without end', () => {
    const { contexts } = watched();
    const first = newRunId();
    contexts.arrived(first, { traceparent: `00-${TRACE}-${SPAN}-01` });
    for (let at = 0; at < 5000; at += 1) contexts.arrived(newRunId(), { traceparent: `00-${TRACE}-${SPAN}-01` });
    expect(contexts.offered(first)).toBeUndefined();
  });
});

describe('a sampler', () => {
  const ids = Array.from({ length: 2000 }, () => newRunId().slice('run_'.length));
  const kept = (sampler: Parameters<typeof samplingOf>[0]['sampler'], ratio: number, caller?: boolean): number =>
    ids.filter((id) => samplingOf({ sampler, sample_ratio: ratio })(id, caller)).length / ids.length;

  it('keeps about the ratio that it is told', () => {
    expect(kept('traceidratio', 0.25)).toBeGreaterThan(0.2);
    expect(kept('traceidratio', 0.25)).toBeLessThan(0.3);
    expect([kept('traceidratio', 0), kept('traceidratio', 1)]).toEqual([0, 1]);
  });

  it('follows the caller where it is based on the parent, and else does not', () => {
    expect([kept('parentbased_always_off', 1, true), kept('parentbased_always_on', 1, false)]).toEqual([1, 0]);
    expect([kept('always_off', 1, true), kept('always_on', 1, false)]).toEqual([0, 1]);
  });
});
