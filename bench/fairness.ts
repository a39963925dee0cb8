import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Config } from '../src/gateway/config.ts';
import { startServer } from '../src/gateway/server.ts';
import { openHome } from '../src/home/home.ts';
import { type BenchReport, judge, spread } from './harness.ts';

const MOST_RATIO = 1.5;
const PLACES = 4;
const GREEDY = 64;
const CALLS = 60;
/** How long the engine takes; the sim waits that long. */
const SERVICE_MS = 60;

/** Milliseconds of one call with this key. */
async function ask(url: string, key: string, agent: http.Agent): Promise<number> {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: `Wait ${SERVICE_MS} ms. Say "hi".` }] });
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    const request = http.request(`${url}/e/sim/v1/messages`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'x-abp-key': key },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      response.resume();
      response.once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`))));
    });
    request.end(body);
  });
  return performance.now() - started;
}

/** The median of calls that are made one after the other. */
async function medianOf(url: string, key: string, agent: http.Agent): Promise<number> {
  const took: number[] = [];
  for (let at = 0; at < CALLS; at += 1) took.push(await ask(url, key, agent));
  return spread(took).median;
}

async function keyOf(url: string, token: string, name: string): Promise<string> {
  const answer = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-abp-key': token },
    body: JSON.stringify({ name }),
  });
  const { secret } = (await answer.json()) as { secret: string }; // our own answer
  return secret;
}

/** What a key that sends without pause does to another key, where both wait for the places of one engine. */
export async function benchFairness(): Promise<BenchReport> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-fairness-'));
  const home = openHome({ path: join(parent, 'home') });
  const config = Config.parse({ server: { port: 0 }, limits: { wait_s: 60 }, engines: { sim: { limits: { concurrency: PLACES } } } });
  const server = await startServer({ config, home, version: '0', log: pino({ level: 'silent' }) });
  const agent = new http.Agent({ keepAlive: true });
  try {
    const [greedy, modest] = [await keyOf(server.url, home.token, 'greedy'), await keyOf(server.url, home.token, 'modest')];
    const alone = await medianOf(server.url, modest, agent);
    let over = false;
    const flood = Array.from({ length: GREEDY }, async () => {
      while (!over) await ask(server.url, greedy, agent);
    });
    const beside = await medianOf(server.url, modest, agent);
    over = true;
    await Promise.all(flood);
    const ratio = beside / alone;
    return {
      title: 'Fairness',
      method: `An engine with ${PLACES} places that answers after ${SERVICE_MS} ms; one key makes a call at a time, another keeps ${GREEDY} waiting. Medians of ${CALLS} calls, alone and beside the other key, in one run.`,
      findings: [
        {
          what: 'median beside a greedy key, against alone',
          figure: ratio.toFixed(2),
          target: `≤ ${MOST_RATIO}`,
          verdict: judge(ratio, MOST_RATIO),
        },
      ],
      table: [
        ['', 'ms'],
        ['alone', alone.toFixed(1)],
        ['beside a greedy key', beside.toFixed(1)],
      ],
    };
  } finally {
    agent.destroy();
    await server.close();
    rmSync(parent, { recursive: true, force: true });
  }
}
