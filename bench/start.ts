import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { type BenchReport, formatSpread, judge, spread } from './harness.ts';
import { end, residentMb, scratchFolder, startGateway } from './processes.ts';

const RUNS = 15;
const MOST_MS = 800;
const MOST_MB = 150;

interface Start {
  readonly readyMs: number;
  readonly mb: number;
}

/** Time from the start of the process to the first 200 of `/readyz`, and what it then holds in memory. */
export async function benchStart(): Promise<BenchReport> {
  const home = scratchFolder();
  // Node keeps its compile cache in the folder for temporary files.
  const cache = join(home, 'tmp');
  mkdirSync(cache);
  const first = await startOnce(home, cache);
  const later: Start[] = [];
  // The second start may still write compile caches of modules that load late; it is not counted.
  await startOnce(home, cache);
  for (let run = 0; run < RUNS; run += 1) later.push(await startOnce(home, cache));
  const ready = spread(later.map((start) => start.readyMs));
  const memory = spread(later.map((start) => start.mb));
  return {
    title: 'Start',
    method:
      `\`abp serve\` from the sources on a home that exists, ${RUNS} starts with a warm compile cache, as every start but the first is. ` +
      'Ready is the time from the spawn of the process to the first 200 of `/readyz`; memory is the resident set at that moment, in MB of 10⁶ bytes. The first start has no home, no database and no compile cache.',
    findings: [
      { what: 'ready, ms', figure: formatSpread(ready, 0), target: `< ${MOST_MS}`, verdict: judge(ready.median, MOST_MS) },
      { what: 'resident, MB', figure: formatSpread(memory, 0), target: `< ${MOST_MB}`, verdict: judge(memory.median, MOST_MB) },
    ],
    table: [
      ['start', 'ready, ms', 'resident, MB'],
      ['first', first.readyMs.toFixed(0), first.mb.toFixed(0)],
      [`later (${RUNS})`, formatSpread(ready, 0), formatSpread(memory, 0)],
    ],
  };
}

async function startOnce(home: string, cache: string): Promise<Start> {
  const started = performance.now();
  const { pid, url, child } = await startGateway({ home, config: '', env: { TMPDIR: cache } });
  try {
    const status = await statusOf(`${url}/readyz`);
    const readyMs = performance.now() - started;
    if (status !== 200) throw new Error(`/readyz answered ${status}`);
    return { readyMs, mb: residentMb(pid) };
  } finally {
    await end(child);
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  const [response] = await once(get(url), 'response');
  response.resume();
  return response.statusCode;
}
