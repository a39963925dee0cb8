import { describe, expect, it } from 'vitest';
import { mapTo, targetOf } from '../../test/support/mapping.ts';
import type { TrafficRow } from '../contract/runs/run-traffic.ts';

const body = {
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  generationConfig: { temperature: 0.2, stopSequences: ['END'] },
  brandNew: { team: 'a' },
};
const gpt5 = targetOf('openai:openai-chat', 'gpt-5');
const habit: TrafficRow = { feature: 'temperature', path: 'generationConfig.temperature', fate: 'dropped', reason: 'a habit' };

function mapped(traffic: readonly TrafficRow[], target = gpt5) {
  return mapTo(target, 'gemini', body, { traffic, unknownLeaves: 'report', address: { model: 'g', stream: false } });
}

describe('a table of traffic', () => {
  it('lets a setting go that the agent sends by habit and the model does not have, and says so', () => {
    const { error, fidelity, upstream } = mapped([habit]);
    expect(error).toBeUndefined();
    expect(upstream?.body).not.toHaveProperty('temperature');
    const path = 'generationConfig.temperature';
    expect(fidelity).toContainEqual(expect.objectContaining({ path, fate: 'dropped', code: 'habit' }));
  });

  it('leaves the setting where the model has it', () => {
    expect(mapped([habit], targetOf('openai:openai-chat', 'gpt-4.1')).upstream?.body).toMatchObject({ temperature: 0.2 });
  });

  it('does not let go what it does not name, nor on a dialect for which it says otherwise', () => {
    expect(mapped([]).error).toMatchObject({ code: 'E001', details: { path: 'generationConfig.temperature' } });
    expect(mapped([{ ...habit, on: { 'openai-chat': 'renamed' } }]).error).toMatchObject({ code: 'E001' });
  });

  it('never lets go what changes the meaning of an answer', () => {
    const stop: TrafficRow = { feature: 'stop', path: 'generationConfig.stopSequences', fate: 'dropped', reason: 'no' };
    const { fidelity } = mapped([habit, stop]);
    expect(fidelity.find(({ path }) => path.startsWith('generationConfig.stopSequences'))?.fate).not.toBe('dropped');
  });

  it('gives its reason for a field that nobody knows, and only at the field or below it', () => {
    const rows = [habit, { feature: 'label', path: 'brandNew', fate: 'dropped', reason: 'bookkeeping' } as const];
    const unknown = { ...body, brandNewer: 1 };
    const { fidelity } = mapTo(gpt5, 'gemini', unknown, { traffic: rows, unknownLeaves: 'report', address: { model: 'g', stream: false } });
    expect(fidelity.filter(({ path }) => path.startsWith('brandNew'))).toMatchObject([
      { path: 'brandNew.team', fate: 'dropped', code: 'unknown_field', note: expect.stringContaining('(label: bookkeeping)') },
      { path: 'brandNewer', fate: 'dropped', code: 'unknown_field' },
    ]);
  });

  it('takes the nearest row', () => {
    const rows: TrafficRow[] = [{ feature: 'settings', path: 'generationConfig', fate: 'dropped', reason: 'all of them' }, habit];
    expect(mapped(rows).fidelity.find(({ path }) => path === 'generationConfig.temperature')?.note).toContain('temperature: a habit');
  });
});
