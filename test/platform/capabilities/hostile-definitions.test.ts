import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentApi } from '../../support/agent-api.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { call } from '../../support/http-call.ts';
import { longestPiece } from '../../support/processor-time.ts';

let server: TestGateway;
let api: AgentApi;
beforeAll(async () => {
  server = await startGateway();
  api = new AgentApi(server).withToken();
});
afterAll(() => server.close());

const definition = (more: object): object => ({ id: 'slow', name: 'Slow', description: 'Slow.', ...more });

it('a definition whose patterns never end is refused by one deadline, and others are served meanwhile', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`p${at}`, { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(40)}!` }]),
  );
  const config_schema = { type: 'object', properties };
  const slow = api.call('POST', '/v1/capabilities', definition({ config_schema }));
  const others: number[] = [];
  const asking = setInterval(() => void call(`${server.url}/healthz`).then(({ status }) => others.push(status)), 50);
  const [answer, held] = await longestPiece(slow);
  clearInterval(asking);
  // Which of the two comes first depends on the machine: the deadline of the checker's thread, or that of whoever waits for it.
  expect([answer.status, answer.text]).toEqual([422, expect.stringMatching(/did not end well|took longer than/)]);
  expect(others.length).toBeGreaterThan(5);
  expect(held).toBeLessThan(2500);
});

it('values that are nested too deeply are refused in words', async () => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const answer = await api.call('POST', '/v1/capabilities', `{"id":"deep","name":"d","description":"d","config_schema":${deep}}`);
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('nested deeper than 100 levels')]);
});

it('a front matter without end is refused', async () => {
  const markdown = `---\nname: x\n${'- a\n'.repeat(200_000)}---\n\nprompt`;
  const [answer, held] = await longestPiece(api.call('POST', '/v1/agents/import', { markdown }));
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('longer than 65536 characters')]);
  expect(held).toBeLessThan(2500);
});
