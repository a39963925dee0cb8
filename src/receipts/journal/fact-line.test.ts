import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeFact, openFact } from '../../../test/support/facts.ts';
import { learnSecrets, redactor } from '../../base/redact.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import { factLine, isOpening, parseClosing, parseOpening, runOfLine } from './fact-line.ts';
import { FACT_ROWS } from './fact-rows.ts';
import { FactTexts } from './fact-texts.ts';
import { PLACES } from './texts.ts';

const RUN = 'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b';

describe('a fact as a line', () => {
  it('is ASCII without a line break, and its values are the JSON of what they were', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (task, model, tags) => {
        const line = factLine(openFact({ task, requestedModel: model, upstreamModel: null, tags }));
        expect(line).toMatch(/^[\t\x20-\x7e]*$/);
        const values = parseOpening(line, 'test');
        expect(JSON.parse(values.get('task'))).toBe(task);
        expect(JSON.parse(values.get('requestedModel'))).toBe(model);
        expect(values.get('upstreamModel')).toBe('null');
        expect(JSON.parse(values.get('tags'))).toEqual(tags);
      }),
    );
  });

  it('keeps what an end says, errors and attempts included', () => {
    const fact = closeFact({ status: 'failed', reason: 'timeout', error: { code: 'engine_timeout', message: 'zu spät\t"' } });
    const values = parseClosing(factLine({ ...fact, attempts: [{ engine: 'sim', status: null, error: 'no "answer"', ms: 1.5 }] }), 'test');
    expect(JSON.parse(values.get('error'))).toEqual(fact.error);
    expect(JSON.parse(values.get('attempts'))).toEqual([{ engine: 'sim', status: null, error: 'no "answer"', ms: 1.5 }]);
    expect(JSON.parse(values.get('usage'))).toEqual(fact.usage);
    expect([values.get('status'), values.get('reason'), values.get('dispatchedMs'), values.get('firstByteMs')]).toEqual([
      '"failed"',
      '"timeout"',
      '1',
      '2.5',
    ]);
  });

  it('holds no secret of what callers and engines chose to say', () => {
    const key = `sk-ant-api03-${'x'.repeat(24)}`;
    const says = `refused ${key} of CUSTOMER-17`;
    const begun = openFact({
      task: says,
      requestedModel: says,
      tags: [says],
      fidelity: [{ path: `metadata["${key}"]`, fate: 'dropped', note: 'CUSTOMER-17' }],
    });
    const ended = closeFact({
      error: { code: 'engine_failed', message: `${says} at http://me:pass@host/?key=k` },
      attempts: [{ engine: 'sim', status: 401, error: says, ms: 1 }],
      toolCalls: [{ id: key, name: says, arguments_sha256: 'a'.repeat(64), result_sha256: 'b'.repeat(64) }],
      artifacts: [{ kind: 'log', path: `${key}.txt`, sha256: null }],
    });
    const texts = new FactTexts(redactor(['CUSTOMER-\\d+']));
    const [open, close] = [parseOpening(factLine(begun, texts), 'test'), parseClosing(factLine(ended, texts), 'test')];
    const told = 'refused [redacted] of [redacted]';
    expect([open.get('task'), open.get('requestedModel'), open.get('tags')].map((text) => JSON.parse(text))).toEqual([told, told, [told]]);
    expect(JSON.parse(open.get('fidelity'))).toEqual([{ path: 'metadata["[redacted]"]', fate: 'dropped', note: '[redacted]' }]);
    expect(JSON.parse(close.get('error'))).toEqual({
      code: 'engine_failed',
      message: `${told} at http://me:[redacted]@host/?key=[redacted]`,
    });
    expect(JSON.parse(close.get('attempts'))).toEqual([{ engine: 'sim', status: 401, error: told, ms: 1 }]);
    expect(JSON.parse(close.get('toolCalls'))).toEqual([
      { id: '[redacted]', name: told, arguments_sha256: 'a'.repeat(64), result_sha256: 'b'.repeat(64) },
    ]);
    expect(JSON.parse(close.get('artifacts'))).toEqual([{ kind: 'log', path: '[redacted].txt', sha256: null }]);
  });

  it.each([
    ['a text', 'in-no-known-shape-at-all-1', (fidelity: FidelityEntry[]) => fidelity],
    ['a list that nobody changes any more', 'in-no-known-shape-at-all-2', (fidelity: FidelityEntry[]) => Object.freeze(fidelity)],
  ])('writes no secret that was learned after %s which holds it had been written', (_what, secret, made) => {
    const texts = new FactTexts();
    const fact = openFact({ requestedModel: secret, fidelity: made([{ path: `metadata.${secret}`, fate: 'dropped' }]) });
    expect(factLine(fact, texts)).toContain(secret);
    learnSecrets([secret]);
    expect(factLine(fact, texts)).not.toContain(secret);
  });

  it('survives token counts that are no number', () => {
    const usage = { ...(closeFact().usage ?? expect.fail()), input_tokens: Number.POSITIVE_INFINITY };
    expect(JSON.parse(parseClosing(factLine(closeFact({ usage })), 'test').get('usage')).input_tokens).toBe(0);
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

  it('of the second form holds these values in this order for ever: a field that comes later says since when', () => {
    const names = (kind: 'open' | 'close'): string =>
      FACT_ROWS[kind]
        .filter(({ since = 2, closingSince = since }) => (kind === 'close' ? closingSince : since) <= 2)
        .map(({ fact }) => fact)
        .join(' ');
    expect(names('open')).toBe(
      'parent plane task dialect engine upstreamModel requestedModel mode compatibility negotiation emulations fidelity request ' +
        'upstreamRequest backend enforcement rules recording tags keyId',
    );
    expect(names('close')).toBe(
      'status reason upstreamModel answerFidelity response eventCount usage cost backendVersion toolCalls artifacts workspaceDelta changeSet ' +
        'dispatchedMs firstByteMs lastByteMs attempts rules replayable error prices',
    );
  });

  it('of the second form is still read: the end of a run did not say then what became of its fields', () => {
    const values = factLine(closeFact()).split('\t').slice(0, -1);
    const later = (['emulations', 'fidelity', 'approvals', 'check', 'entrants', 'sidecarReceipt'] as const).map((name) =>
      PLACES.close.get(name),
    );
    const line = ['close2', ...values.slice(1).filter((_, at) => !later.includes(at + 1))].join('\t');
    // Its checksum has been looked at before a line is cut apart.
    const closing = parseClosing(`${line}\t00000000`, 's');
    expect([closing.get('fidelity'), closing.get('approvals'), closing.get('check')]).toEqual(['[]', '[]', 'null']);
    expect(closing.get('status')).toBe('"completed"');
    expect(closing.get('prices')).toBe(parseClosing(factLine(closeFact()), 's').get('prices'));
  });
});
