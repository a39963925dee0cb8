import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeFact, openFact } from '../../test/support/facts.ts';
import { factLine, isOpening, parseClosing, parseOpening, runOfLine } from './fact-line.ts';

const RUN = 'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b';

describe('a fact as a line', () => {
  it('is ASCII without a line break, and its values are the JSON of what they were', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (task, model, tags) => {
        const line = factLine(openFact({ task, requestedModel: model, upstreamModel: null, tags }));
        expect(line).toMatch(/^[\t\x20-\x7e]*$/);
        const values = parseOpening(line, 'test');
        expect(JSON.parse(values.task)).toBe(task);
        expect(JSON.parse(values.requestedModel)).toBe(model);
        expect(values.upstreamModel).toBe('null');
        expect(JSON.parse(values.tags)).toEqual(tags);
      }),
    );
  });

  it('keeps what an end says, errors and attempts included', () => {
    const fact = closeFact({ status: 'failed', reason: 'timeout', error: { code: 'engine_timeout', message: 'zu spät\t"' } });
    const values = parseClosing(factLine({ ...fact, attempts: [{ engine: 'sim', status: null, error: 'no "answer"', ms: 1.5 }] }), 'test');
    expect(JSON.parse(values.error)).toEqual(fact.error);
    expect(JSON.parse(values.attempts)).toEqual([{ engine: 'sim', status: null, error: 'no "answer"', ms: 1.5 }]);
    expect(JSON.parse(values.usage)).toEqual(fact.usage);
    expect([values.status, values.reason, values.dispatchedMs, values.firstByteMs]).toEqual(['"failed"', '"timeout"', '1', '2.5']);
  });

  it('survives token counts that are no number', () => {
    const usage = { ...(closeFact().usage ?? expect.fail()), input_tokens: Number.POSITIVE_INFINITY };
    expect(JSON.parse(parseClosing(factLine(closeFact({ usage })), 'test').usage).input_tokens).toBe(0);
  });

  it('tells its run and its kind without being cut apart', () => {
    expect([factLine(openFact()), factLine(closeFact())].map((line) => [runOfLine(line), isOpening(line)])).toEqual([
      [RUN, true],
      [RUN, false],
    ]);
  });

  it('that is damaged is refused', () => {
    expect(() => parseOpening(`${factLine(openFact())}\tmore`, 's')).toThrow('the journal segment s holds a damaged line');
    expect(() => parseClosing(factLine(closeFact()).slice(0, 60), 's')).toThrow('the journal segment s holds a damaged line');
  });
});
