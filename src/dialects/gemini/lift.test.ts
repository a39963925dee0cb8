import { describe, expect, test } from 'vitest';
import type { Json } from '../../base/json.ts';
import { Ledger } from '../../ir/ledger.ts';
import type { IrRequest } from '../../ir/request.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { lowerRequest } from './lower.ts';

function lift(body: Json): { request: IrRequest; claims: Record<string, string>; usual: ReadonlySet<string> } {
  const ledger = new Ledger();
  const request = liftRequest(body, { ledger, model: 'gemini-2.5-flash', stream: false });
  return { request, claims: Object.fromEntries(ledger.claims), usual: ledger.usual };
}

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

describe('a request', () => {
  test('means the same in snake_case, and its claims keep the spelling', () => {
    const camel = lift({ contents, generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 0 } } });
    const snake = lift({ contents, generation_config: { max_output_tokens: 5, thinking_config: { thinking_budget: 0 } } });
    expect(snake.request.maxTokens).toBe(5);
    expect(snake.request.thinking).toEqual({ mode: 'disabled' });
    expect(camel.request.thinking).toEqual(snake.request.thinking);
    expect(snake.claims).toMatchObject({
      'generation_config.max_output_tokens': 'max_tokens',
      'generation_config.thinking_config.thinking_budget': 'thinking',
    });
    expect(camel.claims).toMatchObject({ 'generationConfig.thinkingConfig.thinkingBudget': 'thinking' });
  });

  test('leaves a member that nobody knows unclaimed, but keeps it for Gemini', () => {
    const { request, claims } = lift({ contents, futureOption: 1, generationConfig: { futureKnob: true } });
    expect(Object.keys(claims).filter((path) => path.includes('future'))).toEqual([]);
    expect(request.vendor).toEqual({ gemini: { futureOption: 1, generationConfig: { futureKnob: true } } });
  });

  test('takes null for absent everywhere', () => {
    const { request, claims } = lift({ contents, safetySettings: null, toolConfig: null, tools: [{ codeExecution: null }] });
    expect(request).toMatchObject({ tools: [], vendor: {} });
    expect(claims).toMatchObject({ safetySettings: 'structure', toolConfig: 'structure', 'tools[0].codeExecution': 'structure' });
  });

  test('tells safety settings that only let more through from those that hold something back', () => {
    const setting = (threshold: string): Json => ({ category: 'HARM_CATEGORY_HARASSMENT', threshold });
    const off = lift({ contents, safetySettings: [setting('OFF'), setting('BLOCK_NONE')] });
    expect(off.claims).toMatchObject({ safetySettings: 'safety_filters_off' });
    const mixed = lift({ contents, safetySettings: [setting('OFF'), setting('BLOCK_LOW_AND_ABOVE')] });
    expect(mixed.claims).toMatchObject({ safetySettings: 'safety_settings' });
  });

  test('says nothing with values that ask for what happens anyway', () => {
    const { request, claims, usual } = lift({
      contents,
      generationConfig: { candidateCount: 1, responseLogprobs: false, presencePenalty: 0, responseModalities: ['TEXT'] },
    });
    expect(request.sampling).toEqual({});
    const stated = ['candidateCount', 'responseLogprobs', 'presencePenalty'];
    expect(usual).toEqual(new Set(stated.map((name) => `generationConfig.${name}`)));
    expect(claims['generationConfig.responseModalities']).toBe('structure');
  });

  test('of countTokens may be wrapped in a member', () => {
    const { request, claims } = lift({ generateContentRequest: { model: 'models/gemini-2.5-flash', contents } });
    expect(request.messages).toHaveLength(1);
    expect(claims).toMatchObject({ 'generateContentRequest.model': 'model' });
  });

  test('takes a system instruction whose only part stands without brackets', () => {
    const { request } = lift({ contents, systemInstruction: { parts: { text: 'Be brief.' } } });
    expect(request.messages[0]).toEqual({
      role: 'system',
      at: 'systemInstruction',
      parts: [{ kind: 'text', text: 'Be brief.', at: 'systemInstruction.parts' }],
    });
  });

  test('with validated calls has strict tools', () => {
    const { request, claims } = lift({
      contents,
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    });
    expect(request.tools).toMatchObject([{ kind: 'function', name: 'f', strict: true }]);
    expect(request.toolChoice).toEqual({ kind: 'auto' });
    expect(claims['toolConfig.functionCallingConfig.mode']).toBe('tool_strict');
  });

  test('reads one of several texts as a schema, and keeps how Gemini says it', () => {
    const generationConfig = { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } };
    const { request, claims } = lift({ contents, generationConfig });
    expect(request.output).toEqual({ kind: 'json-schema', schema: { type: 'string', enum: ['a'] }, bare: true });
    expect(claims['generationConfig.responseMimeType']).toBe('json_schema');
    expect(request.vendor.gemini?.generationConfig).toEqual(generationConfig);
  });

  test('keeps an output type that has no neutral form for Gemini alone', () => {
    const generationConfig = { responseMimeType: 'text/x.other', responseSchema: { type: 'STRING' } };
    const { request, claims } = lift({ contents, generationConfig });
    expect(request.output).toBeUndefined();
    expect(claims['generationConfig.responseMimeType']).toBe('vendor_option');
    expect(request.vendor.gemini?.generationConfig).toEqual(generationConfig);
  });

  test.each([
    [{}, 'contents: is required'],
    [{ contents: [{ role: 'system', parts: [{ text: 'x' }] }] }, 'contents[0].role: "system" is not one of user, model'],
    [{ contents: [{ parts: [{ functionCall: { args: {} } }] }] }, 'contents[0].parts[0].functionCall.name: is required'],
    [{ contents, generation_config: { top_p: 3 } }, 'generation_config.top_p'],
    [{ contents, toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, '"SOME" is not one of AUTO, ANY, NONE, VALIDATED'],
  ])('that is wrong is refused with the place: %j', (body, words) => {
    expect(() => lift(body as Json)).toThrow(words);
  });
});

describe('thoughts in the history', () => {
  test('go back to Gemini as they came, signed or not', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { text: 'so', thought: true, thoughtSignature: 'U0lH' },
      { text: 'Yes.' },
      { text: '', thoughtSignature: 'RU5E' },
    ];
    const { request } = lift({ contents: [...contents, { role: 'model', parts }] });
    const lowered = lowerRequest(request, { lacks: new Set(), traits: new Set(), defaultMaxTokens: 1 });
    expect(lowered.body.contents).toEqual([...contents, { role: 'model', parts }]);
    expect(lowered.notes).toEqual([]);
  });
});

describe('results without ids', () => {
  const call = (name: string): Json => ({ functionCall: { name, args: {} } });
  const result = (name: string, n: number): Json => ({ functionResponse: { name, response: { n } } });

  test('answer the first open call of their name, over several turns', () => {
    const { request } = lift({
      contents: [
        ...contents,
        { role: 'model', parts: [call('a'), call('b'), call('a')] },
        { role: 'user', parts: [result('b', 1)] },
        { role: 'user', parts: [result('a', 2), result('a', 3)] },
        { role: 'model', parts: [call('a')] },
        { role: 'user', parts: [result('a', 4)] },
      ],
    });
    const ids = request.messages.map((message) =>
      message.parts.map((part) => (part.kind === 'tool-call' ? part.id : part.kind === 'tool-result' ? part.callId : '')),
    );
    expect(ids).toEqual([
      [''],
      ['gemini-call-0', 'gemini-call-1', 'gemini-call-2'],
      ['gemini-call-1', 'gemini-call-0', 'gemini-call-2'],
      ['gemini-call-3'],
      ['gemini-call-3'],
    ]);
  });
});

describe('an answer', () => {
  test.each(['MALFORMED_FUNCTION_CALL', 'OTHER', 'LANGUAGE', 'TOO_MANY_TOOL_CALLS'])(
    'that stopped with %s is a failure',
    (finishReason) => {
      const body = { candidates: [{ content: {}, finishReason, finishMessage: 'why' }], modelVersion: 'm' };
      expect(() => liftResponse(body)).toThrow(`Gemini gave no answer (${finishReason}): why`);
    },
  );

  test.each(['SAFETY', 'RECITATION', 'SPII', 'MODEL_ARMOR', 'IMAGE_SAFETY'])('that stopped with %s was filtered', (finishReason) => {
    const response = liftResponse({ candidates: [{ finishReason }], modelVersion: 'm', responseId: 'r' });
    expect(response).toMatchObject({ finish: 'content-filter', parts: [], meta: { gemini: { candidate: { finishReason } } } });
  });

  test('has ids for its calls that repeat only with the answer', () => {
    const body = (city: string): Json => ({
      candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { city } } }] }, finishReason: 'STOP' }],
    });
    const id = (city: string): unknown => liftResponse(body(city)).parts[0];
    expect(id('Rome')).toEqual(id('Rome'));
    expect(id('Rome')).not.toMatchObject({ id: (id('Oslo') as { id: string }).id }); // a tool call has an id
    expect(id('Rome')).toMatchObject({ id: expect.stringMatching(/^call_[0-9a-f]{24}_0$/) });
  });

  test('without a candidate or a reason is a failure', () => {
    expect(() => liftResponse({ usageMetadata: { promptTokenCount: 1 } })).toThrow('the answer holds no candidate');
  });
});
