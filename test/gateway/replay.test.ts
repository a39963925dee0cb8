import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const BODY = { model: 'sim-1', max_tokens: 100, messages: [{ role: 'user', content: 'say hello again' }] };

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const json = ({ body }: WireAnswer) => JSON.parse(String(body));

async function made(path: string, body: object = BODY): Promise<string> {
  const run = String((await post(`${server.url}${path}`, body)).headers['x-abp-run-id']);
  await receiptOf(server.url, run);
  return run;
}

const replay = (run: string, wanted: object = {}, headers: string[] = []): Promise<WireAnswer> =>
  post(`${server.url}/v1/receipts/${run}/replay`, wanted, headers);

it('sends the recorded request again, byte for byte, as a run of its own', async () => {
  const run = await made('/e/sim/v1/messages');
  const answer = await replay(run);
  expect(answer.status).toBe(200);
  const { run_id: again, of } = json(answer);
  expect([of, again === run]).toEqual([run, false]);
  const [before, after] = [await receiptOf(server.url, run), await receiptOf(server.url, again)];
  expect(after).toMatchObject({ status: 'completed', engine: 'sim', mode: 'passthrough', request: before.request });
  const diff = json(await call(`${server.url}/v1/receipts/diff?a=${run}&b=${again}`));
  expect(diff.members.filter(({ of_the_moment: moment }: { of_the_moment: boolean }) => !moment)).toEqual([]);
});

it.each([
  ['kimi', '/e/sim/kimi/v1/chat/completions'],
  ['openai-chat', '/e/sim/v1/chat/completions'],
  ['gemini', '/e/sim/v1beta/models/sim-1:generateContent'],
])('knows the paths of %s', async (dialect, path) => {
  const gemini = { contents: [{ role: 'user', parts: [{ text: 'say hi' }] }] };
  const run = await made(path, dialect === 'gemini' ? gemini : { model: 'sim-1', messages: [{ role: 'user', content: 'say hi' }] });
  const { run_id: again } = json(await replay(run));
  expect(await receiptOf(server.url, again)).toMatchObject({ dialect, status: 'completed' });
});

it('goes to another engine and another model where the caller wants that', async () => {
  const run = await made('/e/sim/v1/messages');
  const { run_id: again } = json(await replay(run, { engine: 'sim:gemini', model: 'gemini-2.5-pro' }));
  expect(await receiptOf(server.url, again)).toMatchObject({ mode: 'mapped', status: 'completed', model: { upstream: 'gemini-2.5-pro' } });
});

it('is served from the recording where nobody should be called', async () => {
  const run = await made('/e/sim/v1/messages');
  const { run_id: again } = json(await replay(run, { serve: 'recorded' }));
  expect(await receiptOf(server.url, again)).toMatchObject({ engine: 'replay', status: 'completed' });
  expect((await replay(run, { serve: 'recorded', engine: 'sim' })).status).toBe(400);
});

it('makes a run of a request that is refused, so that it can be compared', async () => {
  const run = await made('/e/sim/v1/messages', { ...BODY, top_k: 40 });
  const { run_id: again } = json(await replay(run, { engine: 'sim:openai-chat' }));
  expect(await receiptOf(server.url, again)).toMatchObject({ status: 'failed', error: { code: 'E001' } });
});

it('says why it cannot be: no such run, no such engine, a secret taken out, somebody else’s run', async () => {
  expect((await replay('run_00000000000000000000000000000000')).status).toBe(404);
  const run = await made('/e/sim/v1/messages');
  expect(String((await replay(run, { engine: 'gemni' })).body)).toContain('gemini');
  const secret = await made('/e/sim/v1/messages', {
    ...BODY,
    messages: [{ role: 'user', content: `my key is ${server.token}` }],
  });
  const refused = await replay(secret);
  expect([refused.status, String(refused.body)]).toEqual([422, expect.stringContaining('secret')]);
  const admin = ['authorization', `Bearer ${server.token}`];
  const key = json(await post(`${server.url}/v1/keys`, { name: 'other' }, admin));
  expect((await replay(run, {}, ['x-abp-key', key.secret])).status).toBe(404);
});
