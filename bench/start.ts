import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setup } from '../test/support/build.ts';
import { type BenchReport, formatSpread, interleave, judge, type Spread, spread } from './harness.ts';
import { end, residentMb, scratchFolder, startGateway } from './processes.ts';

const RUNS = 15;
const MOST_MS = 800;
const MOST_MB = 150;

interface Start {
  readonly readyMs: number;
  readonly mb: number;
}

/** A clone runs its sources, an installed package its build. */
const FORMS = ['clone', 'package'] as const;
type Form = (typeof FORMS)[number];

/** Time from the start of the process to the first 200 of `/readyz`, and what it then holds in memory. */
export async function benchStart(): Promise<BenchReport> {
  await setup();
  const places = new Map(FORMS.map((form) => [form, newPlace(form)]));
  const first = new Map<Form, Start>();
  for (const [form, place] of places) {
    first.set(form, await startOnce(place));
    // The second start may still write compile caches of modules that load late; it is not counted.
    await startOnce(place);
  }
  const later = await interleave(FORMS, RUNS, (form) => startOnce(places.get(form) ?? newPlace(form)));
  const ready = (form: Form): Spread => spread((later.get(form) ?? []).map(({ readyMs }) => readyMs));
  const memory = (form: Form): Spread => spread((later.get(form) ?? []).map(({ mb }) => mb));
  return {
    title: 'Start',
    method:
      `\`abp serve\` on a home that exists, from the sources of a clone and from the build that the package has, in turns, ${RUNS} starts each with a warm compile cache, as every start but the first is. ` +
      'Ready is the time from the spawn of the process to the first 200 of `/readyz`; memory is the resident set at that moment, in MB of 10⁶ bytes. The first start has no home, no database and no compile cache.',
    findings: FORMS.flatMap((form) => [
      {
        what: `${form}: ready, ms`,
        figure: formatSpread(ready(form), 0),
        target: `< ${MOST_MS}`,
        verdict: judge(ready(form).median, MOST_MS),
      },
      {
        what: `${form}: resident, MB`,
        figure: formatSpread(memory(form), 0),
        target: `< ${MOST_MB}`,
        verdict: judge(memory(form).median, MOST_MB),
      },
    ]),
    table: [
      ['start', 'ready, ms', 'resident, MB'],
      ...FORMS.flatMap((form) => [
        [`${form}, first`, String(Math.round(first.get(form)?.readyMs ?? 0)), String(Math.round(first.get(form)?.mb ?? 0))],
        [`${form}, later (${RUNS})`, formatSpread(ready(form), 0), formatSpread(memory(form), 0)],
      ]),
    ],
  };
}

interface Place {
  readonly home: string;
  /** Node keeps its compile cache in the folder for temporary files. */
  readonly cache: string;
  readonly program?: string;
}

function newPlace(form: Form): Place {
  const home = scratchFolder();
  const cache = join(home, 'tmp');
  mkdirSync(cache);
  return { home, cache, ...(form === 'package' && { program: `${process.env.ABP_TEST_BUILD}/bin/abp.js` }) };
}

async function startOnce({ home, cache, program }: Place): Promise<Start> {
  const started = performance.now();
  const { pid, url, child } = await startGateway({ home, config: '', env: { TMPDIR: cache }, ...(program !== undefined && { program }) });
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
