import { describe, expect, it } from 'vitest';
import type { EmulationEntry } from '../contract/negotiation.ts';
import { defaultStrategy } from './emulation.ts';
import { runPostProcessing } from './post-processing.ts';

const structured: EmulationEntry = {
  capability: 'structured_output_json_schema',
  strategy: defaultStrategy('structured_output_json_schema'),
};
const jsonMode: EmulationEntry = { capability: 'json_mode', strategy: { type: 'post_processing', detail: 'Parse JSON' } };

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

const fenced = 'Here it is:\n\n```json\n{"city": "Bern", "degrees": 21}\n```\nAnything else?';

describe('runPostProcessing', () => {
  it.each([
    ['bare JSON', '{"city":"Bern","degrees":21}'],
    ['bare JSON with white space around it', '\r\n  {"city":"Bern","degrees":21}\n\n'],
    ['one fenced block between prose', fenced],
    ['a fenced block without a language', '```\n{"city":"Bern","degrees":21}\n```'],
    ['a fenced block with Windows line ends', '```json\r\n{"city":"Bern","degrees":21}\r\n```\r\n'],
    ['a fenced block that the answer does not close', '```json\n{"city":"Bern","degrees":21}'],
    ['an indented fenced block', 'So:\n  ```json\n  {"city":"Bern",\n   "degrees":21}\n  ```'],
  ])('reads %s', (_, text) => {
    expect(runPostProcessing(structured, text, schema)).toEqual({ ok: true, value: { city: 'Bern', degrees: 21 } });
  });

  it('keeps backticks inside a string of the block', () => {
    expect(runPostProcessing(structured, '```json\n{"a":"```"}\n```')).toEqual({ ok: true, value: { a: '```' } });
  });

  it.each([
    ['a wrong type', '{"city":"Bern","degrees":"21"}', 'the answer does not fit: value/degrees must be integer'],
    ['a missing member', '{"city":"Bern"}', "the answer does not fit: value must have required property 'degrees'"],
    ['prose', 'It is warm.', /^the answer is not JSON: /],
    ['nothing', '', /^the answer is not JSON: /],
    ['JSON that was cut off', '{"city":"Be', /^the answer is not JSON: /],
    ['a block that is not JSON', '```json\n{city: Bern}\n```', /^the fenced block is not JSON: /],
    ['two blocks', `${fenced}\n${fenced}`, 'the answer holds 2 fenced blocks, one is expected'],
  ])('names the problem of %s', (_, text, problem) => {
    expect(runPostProcessing(structured, text, schema)).toEqual({
      ok: false,
      problem: typeof problem === 'string' ? problem : expect.stringMatching(problem),
    });
  });

  it('accepts any JSON when no schema is given', () => {
    expect(runPostProcessing(structured, '[1, 2]')).toEqual({ ok: true, value: [1, 2] });
  });

  it('wants an object in JSON mode', () => {
    expect(runPostProcessing(jsonMode, '{}')).toEqual({ ok: true, value: {} });
    expect(runPostProcessing(jsonMode, '[1, 2]')).toEqual({ ok: false, problem: 'the answer does not fit: JSON mode promises an object' });
  });

  it('never passes an answer it has no processing for', () => {
    const thinking: EmulationEntry = { capability: 'extended_thinking', strategy: defaultStrategy('extended_thinking') };
    expect(runPostProcessing(thinking, '{}')).toEqual({ ok: false, problem: 'extended_thinking has no post-processing' });
    const audio: EmulationEntry = { capability: 'audio', strategy: { type: 'post_processing', detail: 'Transcribe' } };
    expect(runPostProcessing(audio, '{}')).toEqual({ ok: false, problem: 'audio has no post-processing' });
  });
});
