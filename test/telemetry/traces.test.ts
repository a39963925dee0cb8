import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CONVENTIONS } from '../../src/gateway/telemetry/genai.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { makeWorkFolder } from '../support/agents/work-script.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';

const ask = (content: string) => ({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] });
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;

async function traced(config: object = {}): Promise<{ server: TestGateway; collector: OtlpReceiver; spans(): Promise<ReceivedSpan[]> }> {
  const collector = await OtlpReceiver.start();
  const server = await startGateway({ config: { telemetry: { otlp_endpoint: collector.url, ...config } } });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close());
  onTestFinished(close);
  return {
    server,
    collector,
    // The end of a server sends what there is.
    spans: async () => {
      await close();
      return collector.spans;
    },
  };
}

it('a call is a span of the GenAI conventions, in the trace of its caller, without contents', async () => {
  const { server, collector, spans } = await traced();
  const { headers } = await post(`${server.url}/e/sim/v1/messages`, ask('a secret sentence'), ['traceparent', CALLER]);
  await post(`${server.url}/e/sim/v1/messages`, ask('fail with 429'));
  const [span = expect.fail(), failed = expect.fail()] = await spans();
  const run = String(headers['x-abp-run-id']);
  expect(span).toMatchObject({
    name: 'chat claude-sonnet-4-5',
    kind: 3,
    traceId: TRACE,
    spanId: run.slice(-16),
    parentSpanId: '00f067aa0ba902b7',
    schemaUrl: `https://opentelemetry.io/schemas/${CONVENTIONS}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'sim',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'abp.run_id': run,
      'abp.mode': 'passthrough',
      'abp.outcome': 'completed',
    },
  });
  expect(span.resource).toMatchObject({ 'service.name': 'agent-backplane', 'service.version': '0.0.0-test' });
  const own = String(failed.attributes['abp.run_id']).slice('run_'.length);
  expect(failed).toMatchObject({
    traceId: own,
    parentSpanId: undefined,
    status: { code: 2 },
    attributes: { 'http.response.status_code': 429 },
  });
  expect(collector.text).not.toContain('secret sentence');
  const durations = collector.points.filter(({ metric }) => metric === 'gen_ai.client.operation.duration');
  expect(durations.map(({ count, unit }) => [count, unit])).toEqual([
    [1, 's'],
    [1, 's'],
  ]);
  const tokens = collector.points.filter(({ metric }) => metric === 'gen_ai.client.token.usage');
  expect(tokens.map(({ attributes }) => attributes['gen_ai.token.type']).sort()).toEqual(['input', 'output']);
});

it('one trace shows the caller, the turn of an agent, its calls and its tools', async () => {
  const { server, collector, spans } = await traced();
  const json = async (path: string, body: object, headers: readonly string[] = []) =>
    JSON.parse(String((await post(`${server.url}${path}`, body, headers)).body));
  const agent = await json('/v1/agents', { name: 'Nora', system_prompt: 'Be short.', model: 'sim/sim-1', capabilities: ['current_time'] });
  const session = await json('/v1/sessions', { agent_id: agent.id });
  const text = 'Call the tool get_current_time with {}. Call the tool get_current_time with {"secret": "of the caller"}.';
  const message = await json(`/v1/sessions/${session.id}/messages`, { message: { content: [{ type: 'text', text }] } }, [
    'traceparent',
    CALLER,
  ]);
  await expect.poll(() => server.gateway.telemetry.counts.runs.size).toBe(1);
  const found = await spans();
  const turn = found.find(({ name }) => name.startsWith('invoke_agent')) ?? expect.fail();
  const call = found.find(({ name }) => name.startsWith('chat')) ?? expect.fail();
  expect(turn).toMatchObject({ name: 'invoke_agent Nora', traceId: TRACE, parentSpanId: '00f067aa0ba902b7' });
  expect(turn.attributes).toMatchObject({
    'gen_ai.agent.name': 'Nora',
    'gen_ai.conversation.id': session.id,
    'abp.run_id': message.run_id,
  });
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: turn.spanId });
  expect(call.attributes).toMatchObject({ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': session.id });
  const tools = found
    .filter(({ name }) => name.startsWith('execute_tool'))
    .toSorted((x, y) => Number(x.status.code) - Number(y.status.code));
  expect(tools).toMatchObject([
    {
      name: 'execute_tool get_current_time',
      kind: 1,
      traceId: TRACE,
      parentSpanId: turn.spanId,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_current_time',
        'gen_ai.tool.call.id': expect.any(String),
        'gen_ai.tool.type': 'function',
        'gen_ai.conversation.id': session.id,
        'abp.parent_run_id': message.run_id,
      },
    },
    { name: 'execute_tool get_current_time', parentSpanId: turn.spanId, status: { code: 2 }, attributes: { 'error.type': 'error' } },
  ]);
  expect(new Set(found.map(({ spanId }) => spanId)).size).toBe(found.length);
  expect(collector.text).not.toContain('of the caller');
});

it('one trace shows the caller, a run of a coding agent, its calls and its tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-traced-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  makeWorkFolder(folder);
  const { server, spans } = await traced();
  const options = {
    agent: 'claude',
    prompt: 'read the queue',
    model: 'sim-1',
    approvalMode: 'yolo',
    cwd: folder,
    engine: 'sim',
    env: { PATH: fakeCommand(join(folder, 'bin'), 'claude', 'working') },
  };
  const answer = await post(`${server.url}/v1/runs`, options, ['x-abp-key', server.token, 'traceparent', CALLER]);
  expect(answer.status).toBe(201);
  const { run_id: run } = JSON.parse(String(answer.body));
  await expect.poll(() => server.gateway.telemetry.counts.runs.size).toBe(1);
  const found = await spans();
  const agent = found.find(({ name }) => name === 'invoke_agent claude') ?? expect.fail();
  expect(agent).toMatchObject({ traceId: TRACE, spanId: run.slice(-16), parentSpanId: '00f067aa0ba902b7' });
  const calls = found.filter(({ attributes }) => attributes['abp.parent_run_id'] === run && attributes['gen_ai.operation.name'] === 'chat');
  expect(calls.length).toBeGreaterThan(0);
  for (const call of calls) expect(call).toMatchObject({ traceId: TRACE, parentSpanId: agent.spanId });
  const tools = found.filter(({ name }) => name.startsWith('execute_tool'));
  expect(tools.map(({ attributes }) => attributes['gen_ai.tool.name'])).toEqual(expect.arrayContaining(['Read', 'Bash']));
  for (const tool of tools) expect(tool).toMatchObject({ traceId: TRACE, parentSpanId: agent.spanId });
});

it('a caller whose trace is not kept is not traced, and neither is anybody with always_off', async () => {
  const { server, spans } = await traced();
  await post(`${server.url}/e/sim/v1/messages`, ask('hello'), ['traceparent', `00-${TRACE}-00f067aa0ba902b7-00`]);
  expect(await spans()).toEqual([]);
  const off = await traced({ sampler: 'always_off' });
  await post(`${off.server.url}/e/sim/v1/messages`, ask('hello'), ['traceparent', CALLER]);
  expect(await off.spans()).toEqual([]);
});

it('an engine gets the bytes and headers of the caller, and no traceparent of ours', async () => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  upstream.answer((socket) => void socket.write(whole('{}')));
  const collector = await OtlpReceiver.start();
  const server = await startGateway({
    engines: { claude: { url: upstream.url, key: 'k' } },
    config: { telemetry: { otlp_endpoint: collector.url } },
  });
  onTestFinished(server.close);
  await post(`${server.url}/e/claude/v1/messages`, ask('hello'));
  await post(`${server.url}/e/claude/v1/messages`, ask('hello'), ['traceparent', CALLER]);
  const [plain, told] = upstream.requests.map(({ headers }) => headers.filter(([name]) => name.toLowerCase() === 'traceparent'));
  expect(plain).toEqual([]);
  expect(told).toEqual([['traceparent', CALLER]]);
});
