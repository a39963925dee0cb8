import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { METRICS, PROCESS_METRICS } from '../../src/gateway/telemetry/metric-table.ts';
import { ROOT } from '../architecture/source-files.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

let server: TestGateway;

beforeAll(async () => {
  server = await startGateway({
    config: { metrics: { models: 2 }, budgets: [{ on: { key: 'local' }, period: 'day', limit_requests: 1000 }] },
  });
});
afterAll(() => server.close());

/** Lines of the exposition by metric and labels. */
async function scrape(url = `${server.url}/metrics`): Promise<Map<string, number>> {
  const { status, headers, body } = await call(url);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const ask = (model: string, text = 'hello') => ({ model, max_tokens: 50, messages: [{ role: 'user', content: text }] });

describe('GET /metrics', () => {
  it('counts calls by engine, dialect, mode, outcome and status, with their tokens and times', async () => {
    await post(`${server.url}/e/sim/v1/messages`, ask('claude-sonnet-4-5'));
    await post(`${server.url}/e/sim:openai-chat/v1/messages`, ask('gpt-5'));
    await post(`${server.url}/e/sim/v1/messages`, ask('claude-sonnet-4-5', 'fail with 429'));
    const key = (outcome: string, status: string, mode = 'passthrough') =>
      `abp_calls_total{plane="gateway",engine="sim",dialect="claude",mode="${mode}",outcome="${outcome}",status="${status}"}`;
    await expect.poll(async () => (await scrape()).get(key('failed', '4xx'))).toBe(1);
    const found = await scrape();
    expect(found.get(key('completed', '2xx'))).toBe(1);
    expect(found.get(key('completed', '2xx', 'mapped'))).toBe(1);
    const series = 'plane="gateway",engine="sim",dialect="claude",mode="mapped"';
    expect(found.get(`abp_call_duration_seconds_count{${series}}`)).toBe(1);
    expect(found.get(`abp_call_duration_seconds_bucket{${series},le="+Inf"}`)).toBe(1);
    expect(found.get(`abp_call_first_byte_seconds_count{${series}}`)).toBe(1);
    expect(found.get('abp_tokens_total{engine="sim",model="claude-sonnet-4-5",kind="output"}')).toBeGreaterThan(0);
    const on = '{budget="config_1",on="key",period="day",action="refuse"}';
    const used = [...found].find(([name]) => name.startsWith('abp_budget_used_ratio'));
    expect(used?.[0].replace(/budget="[^"]*"/, 'budget="config_1"')).toBe(`abp_budget_used_ratio${on}`);
    expect(used?.[1]).toBeCloseTo(0.003);
    expect(found.get('abp_runs_in_flight{plane="gateway"}')).toBe(0);
    expect(found.get('abp_journal_ok')).toBe(1);
    expect(found.get('abp_chain_ok')).toBe(1);
    await expect.poll(async () => (await scrape()).get('abp_receipts_waiting')).toBe(0);
  });

  it('gives names of their own to as many models as are configured, however many callers make up', async () => {
    for (let at = 0; at < 30; at += 1) await post(`${server.url}/e/sim/v1/messages`, ask(`made-up-${at}`));
    const others = () => 'abp_tokens_total{engine="sim",model="other",kind="output"}';
    await expect.poll(async () => (await scrape()).get(others())).toBeGreaterThan(0);
    const models = new Set([...(await scrape()).keys()].flatMap((name) => /model="([^"]*)"/.exec(name)?.[1] ?? []));
    expect(models.size).toBeLessThanOrEqual(4);
  });

  it('exports every metric of the table, and those of the process', async () => {
    const { body } = await call(`${server.url}/metrics`);
    const types = new Map([...String(body).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]));
    for (const { name, type } of Object.values(METRICS)) expect(types.get(name), name).toBe(type);
    for (const name of PROCESS_METRICS) expect([...types.keys()], name).toContain(name);
  });

  it('is for callers of this machine, the token and admin keys', async () => {
    const closed = await startGateway({ config: { auth: { local: false } } });
    onTestFinished(closed.close);
    expect((await call(`${closed.url}/metrics`)).status).toBe(401);
    expect((await call(`${closed.url}/metrics`, { headers: ['authorization', `Bearer ${closed.token}`] })).status).toBe(200);
    const made = await call(`${closed.url}/v1/keys`, {
      method: 'POST',
      headers: ['authorization', `Bearer ${closed.token}`, 'content-type', 'application/json'],
      body: JSON.stringify({ name: 'plain', scopes: {} }),
    });
    const { secret } = JSON.parse(String(made.body));
    expect((await call(`${closed.url}/metrics`, { headers: ['x-abp-key', secret] })).status).toBe(403);
  });

  it('has a port of its own where one is configured, which serves nothing else', async () => {
    const other = await startGateway({ config: { auth: { local: false }, metrics: { port: 0 } } });
    onTestFinished(other.close);
    const { url } = JSON.parse(
      other
        .logs()
        .split('\n')
        .find((line) => line.includes('metrics have a port')) ?? '{}',
    );
    expect((await scrape(url)).get('abp_chain_ok')).toBe(1);
    expect((await call(url.replace('/metrics', '/v1/keys'))).status).toBe(404);
    expect((await call(url, { method: 'POST', body: '{}' })).status).toBe(405);
  });
});

/** Names of metrics in an expression, without the endings that a histogram has. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(?:abp|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
}

describe('deploy', () => {
  const known = new Set<string>([...Object.values(METRICS).map(({ name }) => name), ...PROCESS_METRICS]);
  const read = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8');

  it('has a Grafana dashboard that shows every metric of ours and asks for no other', () => {
    const { panels } = JSON.parse(read('grafana/dashboard.json')) as { panels: { id: number; targets: { expr: string }[] }[] };
    const used = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))));
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
    const shown = Object.values(METRICS).map(({ name }) => name);
    expect(shown.filter((name) => !used.has(name))).toEqual(['abp_info']);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('has alert rules on metrics that the server exports, with labels that they have', () => {
    const { groups } = parse(read('prometheus/alerts.yml')) as { groups: { rules: { alert: string; expr: string }[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(8);
    for (const { alert, expr } of rules) {
      expect(
        metricsIn(expr).filter((name) => !known.has(name)),
        alert,
      ).toEqual([]);
      for (const [, name = '', matchers = ''] of expr.matchAll(/\b(abp_[a-z0-9_]+?)(?:_bucket)?\{([^}]*)\}/g)) {
        const labels = Object.values(METRICS).find((row) => row.name === name)?.labels ?? [];
        for (const [, label] of matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)) expect(labels, `${alert} ${name}`).toContain(label);
      }
    }
  });
});
