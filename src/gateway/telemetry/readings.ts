import type { Account } from '../../calls/budgets/account.ts';
import { MEASURES } from '../../calls/budgets/budget.ts';
import type { BreakerState } from '../../upstream/health.ts';
import { deploymentStates } from '../deployment-states.ts';
import type { Gateway } from '../gateway.ts';
import { type CallCounts, type CallSeries, type Durations, OUTCOMES, SECONDS, STATUS_CLASSES, TOKEN_KINDS } from './call-counts.ts';
import { METRICS } from './metric-table.ts';

/** One number of a metric. A histogram has several under names of their own. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly metricName?: string;
}

/** The samples of every metric of ours, by its key in the table. */
export type Readings = { readonly [K in keyof typeof METRICS]: readonly Sample[] };

const BREAKER: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };
const MOST_BUDGETS = 100;

const one = (value: number): Sample[] => [{ labels: {}, value }];

/** Reads everything that is counted or known, at the moment somebody asks. */
export function readings(gateway: Gateway): Readings {
  const { calls, keeper, telemetry, version, home } = gateway;
  const { counts } = telemetry;
  const unsettled = calls.live.unsettled();
  return {
    info: [{ labels: { version, node: home.nodeId }, value: 1 }],
    calls: [...counts.series.values()].flatMap(endedCalls),
    callSeconds: [...counts.series.values()].flatMap(({ labels, total }) => histogram(METRICS.callSeconds.name, labels, total)),
    firstByteSeconds: [...counts.series.values()].flatMap(({ labels, firstByte }) =>
      histogram(METRICS.firstByteSeconds.name, labels, firstByte),
    ),
    inFlight: inFlight(gateway),
    runs: keyed(counts.runs, ['plane', 'backend', 'outcome']),
    refusals: keyed(counts.refusals, ['code']),
    retries: keyed(counts.attempts, ['engine']),
    tokens: tokens(counts),
    cost: keyed(counts.cost, ['engine', 'model']),
    requests: keyed(telemetry.requests.counts, ['surface', 'status']),
    ...engines(gateway),
    budgetUsed: budgets([...gateway.budgets.ledger.accounts.values()]),
    receiptsWaiting: one(unsettled.count),
    receiptLag: one(unsettled.oldestMs / 1000),
    receiptsSettled: one(telemetry.settled),
    journal: one(keeper.blocked === undefined && keeper.stalled === undefined ? 1 : 0),
    chain: one(keeper.chain === 'ok' ? 1 : 0),
    bodies: one(calls.budget.held),
    bucketWaiting: keeper.bucket === undefined ? [] : one(keeper.bucket.waiting),
    bucket: keeper.bucket === undefined ? [] : one(keeper.bucket.fault === undefined ? 1 : 0),
    webhooksWaiting: one(gateway.webhooks.waiting),
    webhooks: keyed(gateway.webhooks.tries, ['outcome']),
    push: keyed(gateway.browsers.notes?.tries ?? new Map(), ['outcome']),
  };
}

function endedCalls({ labels, ended }: CallSeries): Sample[] {
  return OUTCOMES.flatMap((outcome, row) =>
    STATUS_CLASSES.flatMap((status, column) => {
      const value = ended[row * STATUS_CLASSES.length + column] ?? 0;
      return value === 0 ? [] : [{ labels: { ...labels, outcome, status }, value }];
    }),
  );
}

/** Counts of a histogram add up: each bound has all that are not above it. */
function histogram(name: string, labels: Readonly<Record<string, string>>, { counts, sum }: Durations): Sample[] {
  let count = 0;
  const buckets = SECONDS.map((bound, at) => {
    count += counts[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: count };
  });
  count += counts[SECONDS.length] ?? 0;
  if (count === 0) return [];
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Counts by labels that stand in the key, with a line between them; the last label takes the rest. */
function keyed(counts: ReadonlyMap<string, number>, names: readonly string[]): Sample[] {
  return [...counts].map(([key, value]) => ({ labels: labelsOf(key, names), value }));
}

function labelsOf(key: string, names: readonly string[]): Record<string, string> {
  const parts = key.split('|');
  const last = names.length - 1;
  return Object.fromEntries(names.map((name, at) => [name, at === last ? parts.slice(at).join('|') : (parts[at] ?? '')]));
}

function tokens(counts: CallCounts): Sample[] {
  return [...counts.tokens].flatMap(([key, numbers]) =>
    TOKEN_KINDS.map((kind, at) => ({ labels: { ...labelsOf(key, ['engine', 'model']), kind }, value: numbers[at] ?? 0 })),
  );
}

const PLANES = ['gateway', 'run', 'agent'] as const;

function inFlight({ telemetry: { watch }, calls: { live } }: Gateway): Sample[] {
  const counts = { gateway: 0, run: 0, agent: 0 };
  for (const { run, plane } of watch.underWay.values()) {
    // The beginning of a call that could not be written: nobody will end it.
    if (plane === 'gateway' && live.keyOf(run) === undefined) watch.forget(run);
    else counts[plane] += 1;
  }
  return PLANES.map((plane) => ({ labels: { plane }, value: counts[plane] }));
}

function engines({ calls: { deployments } }: Gateway): Pick<Readings, 'breaker' | 'engineFailures' | 'deploymentUp'> {
  const watched = [...deployments].flatMap(([engine, { health }]) => (health === undefined ? [] : [{ engine, ...health.snapshot() }]));
  return {
    breaker: watched.map(({ engine, state }) => ({ labels: { engine }, value: BREAKER[state] })),
    deploymentUp: deploymentStates(deployments).map(({ engine, deployment, pause }) => ({
      labels: { engine, deployment },
      value: pause === undefined ? 1 : 0,
    })),
    engineFailures: watched.map(({ engine, failuresInARow }) => ({ labels: { engine }, value: failuresInARow })),
  };
}

function budgets(accounts: readonly Account[]): Sample[] {
  return accounts
    .map(({ budget: { id, on, period, action, limits }, page: { spent } }) => ({
      labels: { budget: id, on: on.kind, period, action },
      value: Math.max(...MEASURES.map((measure) => spent[measure] / (limits[measure] ?? Number.POSITIVE_INFINITY))),
    }))
    .toSorted((a, b) => b.value - a.value)
    .slice(0, MOST_BUDGETS);
}
