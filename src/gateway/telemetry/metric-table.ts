/** A metric that this server exports. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

const CALL = ['plane', 'engine', 'dialect', 'mode'] as const;

/**
 * Every metric of ours. Values of labels come from registries, from the configuration or from tables of ours; where callers choose them (models)
 * there are at most `metrics.models` of them and `other`. The Grafana dashboard, the alert rules and the page of the documentation are held to it.
 */
export const METRICS = {
  info: { name: 'abp_info', type: 'gauge', help: 'Always 1; which version runs on which node.', labels: ['version', 'node'] },
  calls: {
    name: 'abp_calls_total',
    type: 'counter',
    help: 'Calls to engines that have ended, refused ones included; status is the class of what the engine answered.',
    labels: [...CALL, 'outcome', 'status'],
  },
  callSeconds: {
    name: 'abp_call_duration_seconds',
    type: 'histogram',
    help: 'From the arrival of a call to the last byte of its answer.',
    labels: CALL,
  },
  firstByteSeconds: {
    name: 'abp_call_first_byte_seconds',
    type: 'histogram',
    help: 'From the arrival of a call to the first byte of its answer.',
    labels: CALL,
  },
  inFlight: { name: 'abp_runs_in_flight', type: 'gauge', help: 'Calls, runs and turns that are under way.', labels: ['plane'] },
  runs: {
    name: 'abp_runs_total',
    type: 'counter',
    help: 'Runs of coding agents and turns of agents that have ended.',
    labels: ['plane', 'backend', 'outcome'],
  },
  refusals: {
    name: 'abp_refusals_total',
    type: 'counter',
    help: 'Calls and runs that were refused before an engine was called, by error code: rate_limited, budget_exceeded, E005 and so on.',
    labels: ['code'],
  },
  retries: {
    name: 'abp_call_retries_total',
    type: 'counter',
    help: 'Further tries of calls, by the engine that was tried last.',
    labels: ['engine'],
  },
  tokens: {
    name: 'abp_tokens_total',
    type: 'counter',
    help: 'Tokens of calls. Cache reads and writes are part of the input, thinking of the output.',
    labels: ['engine', 'model', 'kind'],
  },
  cost: {
    name: 'abp_cost_nano_usd_total',
    type: 'counter',
    help: 'What sealed calls cost, in billionths of a US dollar.',
    labels: ['engine', 'model'],
  },
  requests: {
    name: 'abp_http_requests_total',
    type: 'counter',
    help: 'HTTP requests that have ended; surface is vendor, raw, control, or refused at the door.',
    labels: ['surface', 'status'],
  },
  breaker: {
    name: 'abp_engine_breaker_state',
    type: 'gauge',
    help: 'Whether the breaker of an engine is closed (0), half open (1) or open (2).',
    labels: ['engine'],
  },
  deploymentUp: {
    name: 'abp_deployment_up',
    type: 'gauge',
    help: 'Whether a deployment of an engine gets calls (1), or is left alone (0) because of limits, failures or a refused key.',
    labels: ['engine', 'deployment'],
  },
  engineFailures: {
    name: 'abp_engine_failures_in_a_row',
    type: 'gauge',
    help: 'Failures of an engine since it last answered.',
    labels: ['engine'],
  },
  budgetUsed: {
    name: 'abp_budget_used_ratio',
    type: 'gauge',
    help: 'The part of a budget that is spent; the largest of its measures. At most 100 budgets, the fullest first.',
    labels: ['budget', 'on', 'period', 'action'],
  },
  receiptsWaiting: {
    name: 'abp_receipts_waiting',
    type: 'gauge',
    help: 'Runs that have ended and whose receipt is not stored yet.',
    labels: [],
  },
  receiptLag: {
    name: 'abp_receipts_oldest_seconds',
    type: 'gauge',
    help: 'How long the oldest of them has been waiting for its seal.',
    labels: [],
  },
  receiptsSettled: {
    name: 'abp_receipts_settled_total',
    type: 'counter',
    help: 'Rows of receipts that the keeper has written.',
    labels: [],
  },
  journal: { name: 'abp_journal_ok', type: 'gauge', help: '1 while facts can be written and reach the database.', labels: [] },
  chain: { name: 'abp_chain_ok', type: 'gauge', help: '1 while no entry of the signed chain was found missing.', labels: [] },
  bodies: { name: 'abp_bodies_held_bytes', type: 'gauge', help: 'Bodies of requests and answers in memory.', labels: [] },
  bucketWaiting: {
    name: 'abp_bucket_waiting',
    type: 'gauge',
    help: 'Blocks of recorded bodies that the bucket has not got, and bodies that it has not lost yet.',
    labels: [],
  },
  bucket: { name: 'abp_bucket_ok', type: 'gauge', help: '1 while the bucket takes recorded bodies.', labels: [] },
  webhooksWaiting: { name: 'abp_webhooks_waiting', type: 'gauge', help: 'Notices to webhooks that have not arrived yet.', labels: [] },
  webhooks: {
    name: 'abp_webhook_tries_total',
    type: 'counter',
    help: 'Tries to deliver a notice, by how they ended: delivered, failed (tried again), given_up.',
    labels: ['outcome'],
  },
  push: {
    name: 'abp_push_tries_total',
    type: 'counter',
    help: 'Tries to tell a browser that something waits, by how they ended: delivered, failed (tried again), given_up.',
    labels: ['outcome'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Metrics of the process that prom-client brings: memory, event loop, garbage collection, processor, open files. */
export const PROCESS_METRICS = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'nodejs_heap_size_total_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_gc_duration_seconds',
] as const;
