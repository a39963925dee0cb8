import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATEGORIES } from '../../src/conformance/case.ts';
import { dialectCases } from '../../src/conformance/cases/index.ts';
import { summarize } from '../../src/conformance/report.ts';
import { type Result, runConformance } from '../../src/conformance/suite.ts';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Every reason for which a case may be skipped on our own server, with the sim engine. */
const REASONS = ['the Responses API has no stop sequences', 'the engine takes any model name', 'the calls are not mapped'];

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

it('the suite has cases for every registered dialect, each id once', () => {
  expect(dialectCases.map(({ voice }) => voice.id)).toEqual(dialects.map(({ id }) => id));
  for (const { cases } of dialectCases) expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});

const ids = dialects.map(({ id }) => id);
const cells = ids.flatMap((dialect) => ids.map((engine) => ({ dialect, engine, mode: dialect === engine ? 'passthrough' : 'mapped' })));

describe.each(CATEGORIES)('%s', (category) => {
  it.each(cells)('$dialect on a $engine engine conforms, $mode', async ({ dialect, engine, mode }) => {
    const results = await runConformance({ baseUrl: `${server.url}/e/sim:${engine}`, dialects: [dialect], only: [category] });
    expect(results.flatMap(({ id, problems }) => problems.map((problem) => `${id}: ${problem}`))).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === 'pass').length).toBeGreaterThan(0);
    expect(results.flatMap(({ reason }) => (reason === undefined || REASONS.includes(reason) ? [] : [reason]))).toEqual([]);
    expect(new Set(results.map((result) => result.mode))).toEqual(new Set([mode]));
  });
});

it('the plain sim conforms in every dialect, and the summary counts it', async () => {
  const results: Result[] = await runConformance({ baseUrl: `${server.url}/e/sim/v1` });
  const summary = summarize(results);
  expect(summary).toMatchObject({ fail: 0, dialects: ids.map((dialect) => ({ dialect, mode: 'passthrough' })) });
  expect(summary.pass + summary.skip).toBe(dialectCases.reduce((count, { cases }) => count + cases.length, 0));
});

it('nothing of all this was a fault of the server', () => {
  const faults = server
    .logs()
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  expect(faults).toEqual([]);
});
