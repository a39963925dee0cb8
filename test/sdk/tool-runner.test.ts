import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { MODEL } from './sdk.ts';

// Helpers of the SDKs send more than the calls that they stand for: what they add must not end a program.

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({ engines: { openrouter: { url: upstream.url, key: 'k' } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const anthropic = (engine: string): Anthropic => new Anthropic({ baseURL: `${server.url}/e/${engine}`, apiKey: 'none', maxRetries: 0 });
const TARGETS = ['sim', ...dialects.filter(({ id }) => id !== 'claude').map(({ id }) => `sim:${id}`)];

describe.each(TARGETS)('the helpers of Anthropic’s SDK on %s', (target) => {
  it('run tools to the end, of which one fails', async () => {
    const tools = [
      betaZodTool({
        name: 'add',
        description: 'Adds.',
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => String(a + b),
      }),
      betaZodTool({
        name: 'fail',
        description: 'Fails.',
        inputSchema: z.object({}),
        run: () => {
          throw new Error('no luck');
        },
      }),
    ];
    const content = 'call the tool add with {"a": 2, "b": 3} and call the tool fail with {}';
    const runner = anthropic(target).beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 500,
      messages: [{ role: 'user', content }],
      tools,
    });
    const answers = [];
    for await (const answer of runner) answers.push(answer);
    expect(answers.length).toBe(2);
    // The sim ends with what the tools returned.
    expect(answers.at(-1)?.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^5\n.*no luck/) }]);
  });

  it('keep up a conversation of which the engine keeps nothing', async () => {
    const thread = anthropic(target).beta.messages.thread({ model: MODEL, max_tokens: 500 });
    const said = [];
    for (const word of ['one', 'two', 'three']) {
      const answer = await thread.send({ role: 'user', content: `say "${word}"` });
      said.push(answer.content.map((block) => (block.type === 'text' ? block.text : block.type)).join());
    }
    expect(said).toEqual(['one', 'two', 'three']);
  });
});

it('what was kept at Claude cannot be gone on from elsewhere, and the SDK is told in its words', async () => {
  const message = { model: MODEL, max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] };
  const asked = anthropic('sim:gemini').beta.messages.create({ ...message, thread: { type: 'continue', previous_message_id: 'msg_1' } });
  await expect(asked).rejects.toMatchObject({
    status: 400,
    error: { error: { code: 'E001', details: { feature: 'stored_state', error_code: 'thread_not_found' } } },
  });
  const strict = anthropic('sim:gemini').beta.messages.create(
    { ...message, thread: { type: 'create' } },
    { headers: { 'X-ABP-Compatibility': 'strict' } },
  );
  await expect(strict).rejects.toMatchObject({
    error: { error: { code: 'E006', details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } } },
  });
});

describe('reasoning that stands in reasoning_details alone', () => {
  const detail = (text: string): object => ({ type: 'reasoning.text', text, index: 0, format: 'unknown' });
  const answer = {
    id: 'c1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok', reasoning_details: [detail('I think so.')] } },
    ],
  };
  const deltas = [
    { role: 'assistant', content: '', reasoning_details: [detail('I think')] },
    { reasoning_details: [detail(' so.')] },
    { content: 'ok' },
  ];

  it('is read by callers of other dialects, streamed and not, and comes back to its engine as it was', async () => {
    upstream.answer((socket, { body }) => {
      if (!body.includes('"stream":true')) {
        socket.write(whole(JSON.stringify(answer)));
        return;
      }
      const events = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'stop' }];
      const frames = events.map((choice) => `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`);
      socket.write(Buffer.concat([Buffer.from(chunkedHead()), ...frames.map(chunk), chunk('data: [DONE]\n\n'), Buffer.from(lastChunk())]));
    });
    const ask = { model: 'm', max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] };
    const client = anthropic('openrouter');
    const answers = [await client.messages.create(ask), await client.messages.stream(ask).finalMessage()];
    for (const { content } of answers) {
      expect(content).toMatchObject([
        { type: 'thinking', thinking: 'I think so.' },
        { type: 'text', text: 'ok' },
      ]);
      await client.messages.create({ ...ask, messages: [...ask.messages, { role: 'assistant', content }, ...ask.messages] });
      const sent = JSON.parse(String(upstream.requests.at(-1)?.body));
      expect(sent.messages[1].reasoning_details).toEqual([detail('I think so.')]);
    }
    const openai = new OpenAI({ baseURL: `${server.url}/e/openrouter/v1`, apiKey: 'none', maxRetries: 0 });
    const { output } = await openai.responses.create({ model: 'm', input: 'hi' });
    expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'I think so.' }] });
  });

  it('is not told twice where it stands beside the plain text too', async () => {
    const [choice] = answer.choices;
    const both = { ...answer, choices: [{ ...choice, message: { ...choice?.message, reasoning: 'I think so.' } }] };
    upstream.answer((socket) => void socket.write(whole(JSON.stringify(both))));
    const { content } = await anthropic('openrouter').messages.create({
      model: 'm',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(content.map((block) => (block.type === 'thinking' ? block.thinking : block.type))).toEqual(['I think so.', 'text']);
  });
});
