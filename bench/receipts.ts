import { newRunId, type RunId } from '../src/contract/run-id.ts';
import { type Keeper, startKeeper } from '../src/receipts/keeper.ts';
import { openHome } from '../src/store/home.ts';
import { closeFact, openFact } from '../test/support/facts.ts';
import { type BenchReport, interleave, judge, spread } from './harness.ts';
import { scratchFolder } from './processes.ts';
import { measureStreams } from './receipts-streams.ts';

const ROUNDS = 12;
/** V8 goes on compiling for tens of thousands of runs. */
const WARM_UP = 10;
const RUNS = 3999;
const RUNS_PER_TICK = 3;
const TICK_MS = 1;
const LEAST_PER_SECOND = 1000;
const MOST_MICROS = 60;
const VARIANTS = ['without', 'receipts'] as const;

interface Sample {
  /** Microseconds of processor time per run, of the whole process. */
  readonly cpu: number;
  readonly perSecond: number;
}

/** Processor time that receipts add to a run, alone and in the gateway. */
export async function benchReceipts(): Promise<BenchReport> {
  const alone = await measureAlone();
  const streams = await measureStreams();
  return {
    ...alone,
    method: `${alone.method} ${streams.method}`,
    findings: [...alone.findings, ...streams.findings],
    table: streams.table,
  };
}

/** Facts, journal, keeper thread, cost, hash, seal and row. */
async function measureAlone(): Promise<BenchReport> {
  const home = openHome({ path: scratchFolder() });
  const keeper = startKeeper({
    homePath: home.path,
    journalFolder: home.journalFolder,
    version: 'bench',
    onStalled: (message) => process.stderr.write(`${message}\n`),
    onSettled: () => undefined,
  });
  try {
    await keeper.ready;
    for (let round = 0; round < WARM_UP; round += 1) await played(keeper, 'receipts');
    const samples = await interleave(VARIANTS, ROUNDS, (variant) => played(keeper, variant));
    const [without = [], receipts = []] = VARIANTS.map((variant) => samples.get(variant));
    const added = spread(receipts.map(({ cpu }, round) => cpu - (without[round]?.cpu ?? 0)));
    const pace = spread(receipts.map(({ perSecond }) => perSecond));
    const verdict = pace.median < LEAST_PER_SECOND ? 'void' : judge(added.median, MOST_MICROS);
    const figure = `${added.median.toFixed(1)} µs (${added.p25.toFixed(1)}–${added.p75.toFixed(1)}) at ${pace.median.toFixed(0)} runs/s`;
    return {
      title: 'Receipts',
      method:
        `Processor time of one process (all threads) that journals ${RUNS} runs of a priced model at a steady pace until every receipt is sealed and stored in SQLite, ` +
        `less that of the same loop without receipts. ${ROUNDS} interleaved rounds; median and the middle half.`,
      findings: [{ what: 'CPU added per run', figure, target: `≤ ${MOST_MICROS} µs at ≥ ${LEAST_PER_SECOND} runs/s`, verdict }],
      table: [],
    };
  } finally {
    await keeper.close();
  }
}

async function played(keeper: Keeper, variant: (typeof VARIANTS)[number]): Promise<Sample> {
  const before = process.cpuUsage();
  const started = performance.now();
  let open: readonly RunId[] = [];
  for (let run = 0; run <= RUNS; run += RUNS_PER_TICK) {
    for (const one of open) end(keeper, one);
    open = variant === 'receipts' && run < RUNS ? Array.from({ length: RUNS_PER_TICK }, () => begin(keeper)) : [];
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const seconds = (performance.now() - started) / 1000;
  if (variant === 'receipts') await keeper.settled();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / RUNS, perSecond: RUNS / seconds };
}

const MODEL = 'claude-sonnet-4-5';

/** A run as the gateway writes it down: its beginning before the engine is called, … */
function begin(keeper: Keeper): RunId {
  const run = newRunId();
  const changes = { engine: 'claude', backend: 'engine:claude', requestedModel: MODEL, upstreamModel: MODEL, tags: [] };
  const fact = openFact({ run, at: Date.now(), ...changes });
  keeper.opening({ record: () => keeper.append(fact), proceed: () => undefined, fail: raise });
  return run;
}

/** … and its end before the last byte is sent. */
function end(keeper: Keeper, run: RunId): void {
  const fact = closeFact({ run, at: Date.now(), upstreamModel: MODEL, prices: 'anthropic', cost: null });
  keeper.closing({ record: () => keeper.append(fact), proceed: () => undefined, fail: raise });
}

function raise(error: unknown): never {
  throw error;
}
