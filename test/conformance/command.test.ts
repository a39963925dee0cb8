import { afterAll, beforeAll, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type BrokenGateway, startBrokenGateway } from './broken-gateway.ts';

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

async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo();
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

it('abp conformance shows a table and ends with 0 when nothing fails', async () => {
  const { code, out } = await abp('conformance', `${server.url}/e/sim:gemini`, '--dialect', 'claude', '--dialect', 'gemini');
  expect(code).toBe(0);
  const [head, claude, gemini] = out.split('\n');
  expect(head?.split(/\s{2,}/)).toEqual(['Dialect', 'Mode', 'parity', 'stream', 'mapped', 'receipt', 'errors']);
  expect(claude?.split(/\s{2,}/)).toEqual(['claude', 'mapped', '11 pass', '4 pass', '3 pass', '4 pass', '6 pass 1 skip']);
  expect(gemini?.split(/\s{2,}/)).toEqual(['gemini', 'passthrough', '10 pass', '6 pass', '2 pass 1 skip', '4 pass', '6 pass 1 skip']);
  expect(out).toContain('2 skipped: the engine takes any model name');
  expect(out).toMatch(/^conforms: 56 passed, 0 failed, 3 skipped$/m);
});

it('abp conformance lists failures with what was expected and ends with 1', async () => {
  broken.break({ answer: (text) => text.replaceAll('event: message_stop\ndata: {"type":"message_stop"}\n\n', '') });
  const { code, out } = await abp('conformance', `${broken.url}/e/sim`, '--dialect', 'claude');
  expect(code).toBe(1);
  expect(out).toContain('fail claude stream-text: a streamed text has the events of the vendor, in order, with one end\n');
  expect(out).toContain('     message_stop should end the stream\n');
  expect(out).toMatch(/^does not conform: \d+ passed, [1-9]\d* failed, \d+ skipped$/m);
});

it('abp conformance --json has every result', async () => {
  const { code, out } = await abp('conformance', `${server.url}/e/sim/v1`, '--dialect', 'openai-chat', '--json');
  const report = JSON.parse(out);
  expect(code).toBe(0);
  expect(report).toMatchObject({ ok: true, fail: 0, dialects: [{ dialect: 'openai-chat', mode: 'passthrough' }] });
  expect(report.results).toHaveLength(report.pass + report.skip);
  expect(report.results[0]).toEqual({
    dialect: 'openai-chat',
    id: 'plain',
    category: 'parity',
    title: 'a plain answer has the shape of the vendor',
    mode: 'passthrough',
    outcome: 'pass',
    problems: [],
  });
});

it('abp conformance sends the key as the SDKs do, and as ours', async () => {
  const { code, out } = await abp('conformance', `${server.url}/e/sim`, '--dialect', 'claude', '--key', server.token, '--json');
  expect([code, JSON.parse(out).skip]).toEqual([0, 2]);
});

it('abp conformance says what is wrong with its arguments', async () => {
  expect(await abp('conformance', 'gateway.example')).toMatchObject({ code: 2, err: expect.stringContaining('is not an HTTP URL') });
  expect(await abp('conformance', 'http://127.0.0.1:1')).toMatchObject({ code: 6, err: expect.stringContaining('does not answer') });
  expect(await abp('conformance', server.url, '--dialect', 'morse')).toMatchObject({ code: 3, err: expect.stringContaining('morse') });
});
