import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Result, runConformance } from '../../src/conformance/suite.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type BrokenGateway, type Fault, startBrokenGateway } from './broken-gateway.ts';

let server: TestGateway;
let broken: BrokenGateway;
beforeAll(async () => {
  server = await startGateway();
  broken = await startBrokenGateway(server.url);
});
afterAll(async () => {
  await broken.close();
  await server.close();
});

async function failures(dialect: string, fault: Fault, engine = 'sim'): Promise<Result[]> {
  broken.break(fault);
  const results = await runConformance({ baseUrl: `${broken.url}/e/${engine}`, dialects: [dialect] });
  return results.filter(({ outcome }) => outcome === 'fail');
}

const ids = (results: readonly Result[]): string[] => results.map(({ id }) => id);
const problemsOf = (results: readonly Result[], id: string): readonly string[] =>
  results.find((result) => result.id === id)?.problems ?? [];

it('a gateway without a fault fails nothing', async () => {
  for (const dialect of ['claude', 'openai-chat', 'openai-responses', 'gemini', 'kimi', 'copilot']) {
    expect(await failures(dialect, {})).toEqual([]);
  }
});

/** A stream without the frames that match, or with them somewhere else. */
const frames = (text: string): string[] => text.split(/(?<=\n\r?\n)/);
const without =
  (pattern: RegExp) =>
  (text: string): string =>
    frames(text)
      .filter((frame) => !pattern.test(frame))
      .join('');
const firstLast = (text: string): string => (/^(?:event|data):/.test(text) ? [...frames(text).slice(1), frames(text)[0]].join('') : text);

interface FaultRow {
  readonly name: string;
  readonly dialect: string;
  readonly fault: Fault;
  readonly id: string;
  readonly problem: string;
}

const FAULTS: readonly FaultRow[] = [
  {
    name: 'forgets message_stop',
    dialect: 'claude',
    fault: { answer: without(/event: message_stop/) },
    id: 'stream-text',
    problem: 'message_stop should end the stream',
  },
  {
    name: 'reorders events',
    dialect: 'claude',
    fault: { answer: firstLast },
    id: 'stream-text',
    problem: 'message_start should come first, not "content_block_start"',
  },
  {
    name: 'sends [DONE] to Claude’s callers',
    dialect: 'claude',
    fault: { answer: (text) => (text.startsWith('event:') ? `${text}data: [DONE]\n\n` : text) },
    id: 'stream-no-done',
    problem: 'no event should be [DONE]',
  },
  {
    name: 'loses the usage',
    dialect: 'claude',
    fault: { answer: (text) => text.replaceAll('"output_tokens"', '"tokens_out"') },
    id: 'plain',
    problem: 'usage.output_tokens should be a count, not nothing',
  },
  {
    name: 'loses a piece of a stream',
    dialect: 'claude',
    fault: { answer: (text) => text.replace('"text":"this ', '"text":"') },
    id: 'same-streamed-text',
    problem: 'streamed and plain should say the same',
  },
  {
    name: 'answers errors in another vendor’s shape',
    dialect: 'claude',
    fault: { answer: (text, status) => (status >= 400 ? '{"error":{"message":"no","type":"bad","code":null}}' : text) },
    id: 'malformed-json',
    problem: 'type should be "error", not nothing',
  },
  {
    name: 'answers an error with 200',
    dialect: 'claude',
    fault: { status: () => 200 },
    id: 'malformed-json',
    problem: 'the status should be 400, not 200',
  },
  {
    name: 'breaks text beyond ASCII',
    dialect: 'claude',
    fault: { answer: (text) => text.replaceAll('😀', '�') },
    id: 'unicode',
    problem: 'the text should be',
  },
  {
    name: 'drops stop sequences',
    dialect: 'openai-chat',
    fault: { request: (body) => body.replace('"stop":["STOP"]', '"stop":[]') },
    id: 'stop-sequence',
    problem: 'the text should end before the stop sequence',
  },
  {
    name: 'drops the token limit',
    dialect: 'gemini',
    fault: { request: (body) => body.replace(/"maxOutputTokens":16/, '"temperature":1') },
    id: 'token-limit',
    problem: 'there should be at most 16 output tokens',
  },
  {
    name: 'gives parallel calls one id',
    dialect: 'openai-chat',
    fault: { answer: (text) => text.replaceAll(/"id":"call_[0-9a-f]+"/g, '"id":"call_1"') },
    id: 'parallel-tools',
    problem: 'the calls should have different ids',
  },
  {
    name: 'forgets [DONE]',
    dialect: 'openai-chat',
    fault: { answer: without(/data: \[DONE\]/) },
    id: 'stream-done',
    problem: 'the last event, and only that, should be [DONE]',
  },
  {
    name: 'forgets the finishing chunk',
    dialect: 'openai-chat',
    fault: { answer: without(/"finish_reason":"/) },
    id: 'stream-text',
    problem: 'one choice should have a finish_reason',
  },
  {
    name: 'misnumbers events',
    dialect: 'openai-responses',
    fault: { answer: (text) => text.replace('"sequence_number":3', '"sequence_number":4') },
    id: 'stream-text',
    problem: 'should be 3, not 4',
  },
  {
    name: 'ends a response with other items than it told',
    dialect: 'openai-responses',
    fault: { answer: (text) => text.replace(/("type":"response.completed".*?"output":)\[.*?\](,"parallel)/, '$1[]$2') },
    id: 'stream-text',
    problem: 'the last response should repeat the items that were told, not []',
  },
  {
    name: 'writes LF where the vendor writes CRLF',
    dialect: 'gemini',
    fault: { answer: (text) => text.replaceAll('\r\n', '\n') },
    id: 'stream-crlf',
    problem: 'every line should end in CRLF',
  },
  {
    name: 'answers 500 as 200 text',
    dialect: 'gemini',
    fault: { answer: (text, status) => (status === 500 ? 'oops' : text) },
    id: 'engine-500',
    problem: 'the body should be an object, not nothing',
  },
  {
    name: 'drops unknown fields',
    dialect: 'claude',
    fault: { request: (body) => body.replace(/,"abp_conformance_future_field":\{"deep":\[1\]\}/, '') },
    id: 'unknown-field',
    problem: 'the digest of the request as the gateway got it should be',
  },
];

describe('the suite finds a gateway that', () => {
  it.each(FAULTS)('$name ($dialect)', async ({ dialect, fault, id, problem }) => {
    const found = await failures(dialect, fault);
    expect(ids(found)).toContain(id);
    expect(problemsOf(found, id)).toContainEqual(expect.stringContaining(problem));
  });

  it('drops unknown fields where it should refuse them', async () => {
    const fault: Fault = { request: (body) => body.replace(/,"abp_conformance_future_field":\{"deep":\[1\]\}/, '') };
    const found = await failures('claude', fault, 'sim:gemini');
    expect(ids(found)).toEqual(['unknown-field']);
    expect(problemsOf(found, 'unknown-field')).toContain('the status should be 400, not 200');
  });

  it('injects an event into a stream: the receipt does not know it', async () => {
    const fault: Fault = { answer: (text) => text.replace('event: ping\n', 'event: ping\ndata: {"type":"ping"}\n\nevent: ping\n') };
    expect(ids(await failures('claude', fault))).toEqual(['receipt-stream']);
  });
});

describe('a gateway that is not ours', () => {
  const foreign: Fault = { headers: ({ 'x-abp-run-id': _, ...rest }) => rest };

  it('is asked what every gateway can be asked, and the rest is skipped with a reason', async () => {
    broken.break(foreign);
    const results = await runConformance({ baseUrl: `${broken.url}/e/sim`, dialects: ['claude'] });
    expect(results.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
    const skips = results.flatMap(({ id, outcome, reason }) => (outcome === 'skip' ? [[id, reason]] : []));
    expect(skips).toEqual([
      ['unicode', 'the engine may answer differently each time'],
      ['parallel-tools', 'the engine may answer differently each time'],
      ['stream-broken', 'only the sim engine fails on request'],
      ['unknown-field', 'the gateway names no run and keeps no receipt'],
      ['every-leaf', 'the gateway names no run and keeps no receipt'],
      ['missing-capability', 'the gateway names no run and keeps no receipt'],
      ['receipt-plain', 'the gateway names no run and keeps no receipt'],
      ['receipt-stream', 'the gateway names no run and keeps no receipt'],
      ['receipt-failure', 'the gateway names no run and keeps no receipt'],
      ['receipt-hash', 'the gateway names no run and keeps no receipt'],
      ['unknown-model', 'the engine takes any model name'],
      ['engine-429', 'only the sim engine fails on request'],
      ['engine-500', 'only the sim engine fails on request'],
      ['engine-503', 'only the sim engine fails on request'],
      ['engine-failure-streamed', 'only the sim engine fails on request'],
    ]);
  });

  it('need not speak every dialect, but must speak one that is named', async () => {
    const absent: Fault = { status: () => 404 };
    broken.break(absent);
    const unnamed = await runConformance({ baseUrl: broken.url });
    expect(new Set(unnamed.map(({ outcome }) => outcome))).toEqual(new Set(['skip']));
    const named = await runConformance({ baseUrl: broken.url, dialects: ['gemini'] });
    expect(new Set(named.map(({ outcome }) => outcome))).toEqual(new Set(['fail']));
    expect(named[0]?.problems).toEqual(['the gateway does not serve gemini: 404 at /v1beta/models/sim-1:generateContent']);
  });

  it('that nobody runs is an error, and so is a dialect nobody knows', async () => {
    await expect(runConformance({ baseUrl: 'http://127.0.0.1:1' })).rejects.toThrow('ECONNREFUSED');
    await expect(runConformance({ baseUrl: broken.url, dialects: ['smoke-signals'] })).rejects.toThrow(
      'no cases for the dialect "smoke-signals"',
    );
  });
});
