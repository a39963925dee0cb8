import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({ engines: { claude: { url: upstream.url, key: 'sk-test' } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const SEARCHED = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'owls' } };
const FOUND = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://example.com/owls', title: 'Owls', encrypted_content: 'abc', page_age: null }],
};
const FIRST = [{ type: 'text', text: 'I look.' }, SEARCHED];
const LAST = [FOUND, { type: 'text', text: ' Owls hunt at night.' }];

function message(content: readonly object[], stop: string): object {
  const usage = { input_tokens: 10, output_tokens: 4, server_tool_use: { web_search_requests: 1 } };
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', content, stop_reason: stop, stop_sequence: null, usage };
}

function eventsOf(content: readonly object[], stop: string): string {
  const blocks = content.flatMap((block, index) => {
    const deltas =
      'text' in block
        ? [{ type: 'text_delta', text: block.text }]
        : 'input' in block
          ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
          : [];
    const start = 'text' in block ? { ...block, text: '' } : 'input' in block ? { ...block, input: {} } : block;
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const { usage, ...begun } = message([], stop) as { usage: object };
  return [
    { type: 'message_start', message: { ...begun, stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

/** Answers one request after the other with these pieces, the last one for ever. */
function script(pieces: readonly (readonly [readonly object[], string])[], streamed: boolean): void {
  let at = 0;
  upstream.answer((socket) => {
    const [content, stop] = pieces[Math.min(at, pieces.length - 1)] ?? [[], 'end_turn'];
    at += 1;
    const body = streamed ? eventsOf(content, stop) : JSON.stringify(message(content, stop));
    socket.write(whole(body, { headers: [`content-type: ${streamed ? 'text/event-stream' : 'application/json'}`] }));
  });
}

const CALLERS = [
  ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'owls?' }], web_search_options: {} }],
  ['responses', '/v1/responses', { input: 'owls?', tools: [{ type: 'web_search' }] }],
] as const;

describe.each(CALLERS)('a caller of %s, when Claude pauses its turn', (_, path, ask) => {
  it.each([false, true])('reads the pieces as one answer with the usage of all, streamed: %s', async (stream) => {
    script(
      [
        [FIRST, 'pause_turn'],
        [LAST, 'end_turn'],
      ],
      stream,
    );
    const before = upstream.requests.length;
    const answer = await post(`${server.url}${path}`, { ...ask, model: 'claude/claude-x', stream });
    const text = answer.body.toString();
    expect([
      answer.status,
      text.includes('I look.'),
      text.includes('Owls hunt at night.'),
      /"length"|incomplete_details":\{/.test(text),
    ]).toEqual([200, true, true, false]);
    const [first, second] = upstream.requests.slice(before).map(({ body }) => JSON.parse(body.toString()));
    expect(second).toEqual({ ...first, messages: [...first.messages, { role: 'assistant', content: FIRST }] });
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt).toMatchObject({ status: 'completed', usage: { input_tokens: 20, output_tokens: 8, web_search_requests: 2 } });
    expect(receipt.answer_fidelity).toContainEqual(expect.objectContaining({ fate: 'emulated', code: 'paused_and_continued' }));
  });

  it.each([false, true])('is told that the answer is not finished when it never ends, streamed: %s', async (stream) => {
    script([[FIRST, 'pause_turn']], stream);
    const before = upstream.requests.length;
    const answer = await post(`${server.url}${path}`, { ...ask, model: 'claude/claude-x', stream });
    expect(answer.body.toString()).toMatch(/"finish_reason":"length"|"status":"incomplete"/);
    expect(upstream.requests.length - before).toBe(9);
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt).toMatchObject({ status: 'completed', usage: { input_tokens: 90 } });
    expect(receipt.answer_fidelity).toContainEqual(expect.objectContaining({ fate: 'emulated', code: 'paused' }));
  });

  it.each([false, true])('is told when the engine refuses to go on, with what was used before, streamed: %s', async (stream) => {
    let asked = 0;
    upstream.answer((socket) => {
      asked += 1;
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'too much' } };
      const piece = stream ? eventsOf(FIRST, 'pause_turn') : JSON.stringify(message(FIRST, 'pause_turn'));
      if (asked > 1) socket.write(whole(JSON.stringify(error), { status: '529 Overloaded' }));
      else socket.write(whole(piece, { headers: [`content-type: ${stream ? 'text/event-stream' : 'application/json'}`] }));
    });
    const answer = await post(`${server.url}${path}`, { ...ask, model: 'claude/claude-x', stream });
    expect([answer.status, answer.body.toString()]).toEqual([stream ? 200 : 503, expect.stringContaining('too much')]);
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'failed',
      reason: 'engine_error',
      usage: { input_tokens: 10 },
    });
  });
});

it('lets a Claude caller continue itself, in its own words', async () => {
  script([[FIRST, 'pause_turn']], false);
  const before = upstream.requests.length;
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  const ask = { model: 'claude/claude-x', max_tokens: 9, messages: [{ role: 'user', content: 'owls?' }], tools };
  const answer = await post(`${server.url}/v1/messages`, ask);
  expect(JSON.parse(answer.body.toString()).stop_reason).toBe('pause_turn');
  expect(upstream.requests.length - before).toBe(1);
});
