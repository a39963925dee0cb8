import { Batch } from '../src/calls/batch.ts';
import { newRunId, type RunId } from '../src/contract/run-id.ts';
import { openHome } from '../src/home/home.ts';
import { type Keeper, startKeeper } from '../src/receipts/keeper/keeper.ts';
import { closeFact, openFact } from '../test/support/facts.ts';
import { type BenchReport, type Finding, interleave, judge, spread } from './harness.ts';
import { scratchFolder } from './processes.ts';
import { measureStreams } from './receipts-streams.ts';

const ROUNDS = 12;
/** V8 goes on compiling for tens of thousands of runs. */
const WARM_UP = 10;
const TICKS = 1300;
const TICK_MS = 1;
/** Runs that begin and end in a tick: a quiet server, a busy one, and one that has little time left. */
const PACES = [1, 3, 8] as const;
type Pace = (typeof PACES)[number];
const BUSIEST: Pace = 8;
const LEAST_PER_SECOND = 1000;
const MOST_MICROS = 60;
const VARIANTS = PACES.flatMap((pace) => [`without ${pace}`, `receipts ${pace}`] as const);
type Variant = (typeof VARIANTS)[number];

interface Sample {
  /** Microseconds of processor time per run, of the whole process. */
  readonly cpu: number;
  readonly perSecond: number;
}

/** A keeper, and what makes one write of the facts of a moment, as calls do. */
interface BatchedJournal {
  readonly keeper: Keeper;
  readonly batch: Batch;
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
  const journal: BatchedJournal = { keeper, batch: new Batch(keeper) };
  try {
    await keeper.ready;
    for (let round = 0; round < WARM_UP; round += 1) await played(journal, `receipts ${BUSIEST}`);
    const samples = await interleave(VARIANTS, ROUNDS, (variant) => played(journal, variant));
    return {
      title: 'Receipts',
      method:
        'Processor time of one process (all threads) that journals runs of a priced model at a steady pace until every receipt is sealed and stored in SQLite, ' +
        `less that of the same loop without receipts. ${ROUNDS} interleaved rounds; median and the middle half. A receipt costs less the more of them are written together, ` +
        'and a processor that sleeps between two ticks wakes up slow, so the pace belongs to the figure.',
      findings: PACES.map((pace) => findingOf(pace, samples)),
      table: [],
    };
  } finally {
    await keeper.close();
  }
}

function findingOf(pace: Pace, samples: ReadonlyMap<Variant, readonly Sample[]>): Finding {
  const without = samples.get(`without ${pace}`) ?? [];
  const receipts = samples.get(`receipts ${pace}`) ?? [];
  const added = spread(receipts.map(({ cpu }, round) => cpu - (without[round]?.cpu ?? 0)));
  const perSecond = spread(receipts.map((sample) => sample.perSecond)).median;
  const asked = perSecond >= LEAST_PER_SECOND;
  return {
    what: `CPU added per run at ${perSecond.toFixed(0)} runs/s`,
    figure: `${added.median.toFixed(1)} µs (${added.p25.toFixed(1)}–${added.p75.toFixed(1)})`,
    target: asked ? `≤ ${MOST_MICROS} µs` : '–',
    verdict: judge(added.median, asked ? MOST_MICROS : undefined),
  };
}

async function played({ keeper, batch }: BatchedJournal, variant: Variant): Promise<Sample> {
  const [kind, count] = variant.split(' ');
  const perTick = Number(count);
  const before = process.cpuUsage();
  const started = performance.now();
  let open: readonly RunId[] = [];
  for (let tick = 0; tick <= TICKS; tick += 1) {
    for (const one of open) end({ keeper, batch }, one);
    open = kind === 'receipts' && tick < TICKS ? Array.from({ length: perTick }, () => begin({ keeper, batch })) : [];
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const seconds = (performance.now() - started) / 1000;
  if (kind === 'receipts') await keeper.settled();
  const { user, system } = process.cpuUsage(before);
  const runs = TICKS * perTick;
  return { cpu: (user + system) / runs, perSecond: runs / seconds };
}

const MODEL = 'claude-sonnet-4-5';

/** A run as the gateway writes it down: its beginning before the engine is called, … */
function begin({ keeper, batch }: BatchedJournal): RunId {
  const run = newRunId();
  const changes = { engine: 'claude', backend: 'engine:claude', requestedModel: MODEL, upstreamModel: MODEL, tags: [] };
  const fact = openFact({ run, at: Date.now(), ...changes });
  batch.open({ record: () => keeper.append(fact), proceed: () => undefined, fail: raise });
  return run;
}

/** … and its end before the last byte is sent. */
function end({ keeper, batch }: BatchedJournal, run: RunId): void {
  const fact = closeFact({ run, at: Date.now(), upstreamModel: MODEL, prices: 'anthropic', cost: null });
  batch.close({ record: () => keeper.append(fact), proceed: () => undefined, fail: raise });
}

function raise(error: unknown): never {
  throw error;
}
