// A sidecar that behaves as its first argument says. Everything it does is in this file, so that a reader sees what was wrong.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [how = 'good'] = process.argv.slice(2);
const say = (envelope) => process.stdout.write(`${typeof envelope === 'string' ? envelope : JSON.stringify(envelope)}\n`);
if (how === 'gives-up') {
  process.stdout.write(`${JSON.stringify({ t: 'fatal', ref_id: null, error: 'there is no licence' })}\n`);
  process.exit(3);
}
const hello = (version = 'abp/v0.1') => ({
  t: 'hello',
  contract_version: version,
  backend: { id: 'test', backend_version: '1', adapter_version: null },
  capabilities: { streaming: 'native', tool_read: 'emulated' },
  mode: 'mapped',
});
if (how === 'leaves-process')
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)', 'left-by-a-sidecar'], { detached: true, stdio: 'ignore' }).unref();
const event = (ref, more) => ({ t: 'event', ref_id: ref, event: { ts: new Date().toISOString(), ...more } });
const final = (ref, order) => ({
  t: 'final',
  ref_id: ref,
  receipt: {
    meta: {
      run_id: ref,
      work_order_id: order.id,
      contract_version: 'abp/v0.1',
      started_at: '2026-01-02T03:04:05Z',
      finished_at: '2026-01-02T03:04:06Z',
      duration_ms: 1000,
    },
    backend: { id: 'test', backend_version: null, adapter_version: null },
    capabilities: {},
    mode: 'mapped',
    usage_raw: {},
    usage: {
      input_tokens: 5,
      output_tokens: 7,
      cache_read_tokens: null,
      cache_write_tokens: null,
      request_units: null,
      estimated_cost_usd: null,
    },
    trace: [],
    artifacts: [],
    verification: { git_diff: null, git_status: null, harness_ok: true },
    outcome: 'complete',
    receipt_sha256: null,
  },
});

/** The rule of the contract: compact, members sorted, the hash itself null. */
const sorted = (value) => {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sorted(value[name])}`).join(',')}}`;
};
const withArtifacts = (ref, order, forge) => {
  const { receipt, ...envelope } = final(ref, order);
  const artifacts = [
    { kind: 'report', path: 'report.txt' },
    { kind: 'report', path: '../../../../etc/hostname' },
  ];
  const whole = { ...receipt, artifacts };
  const hash = createHash('sha256').update(sorted(whole)).digest('hex');
  return { ...envelope, receipt: { ...whole, receipt_sha256: forge ? hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) : hash } };
};

const WORK = {
  artifacts(ref, order) {
    writeFileSync(join(order.workspace.root, 'report.txt'), 'all well\n');
    say(withArtifacts(ref, order, false));
  },
  forged: (ref, order) => say(withArtifacts(ref, order, true)),
  'second-hello': () => say(hello()),
  'writes-run': (ref, order) => say({ t: 'run', id: ref, work_order: order }),
  'a-list': () => say('[1,2,3]'),
  'too-deep': (ref) => say(`{"t":"event","ref_id":"${ref}","event":${'['.repeat(200_000)}${']'.repeat(200_000)}}`),
  // Short enough that nobody would look how many values it holds.
  'deep-call': (ref) =>
    say(
      `{"t":"event","ref_id":"${ref}","event":{"ts":"2026-01-02T03:04:05Z","type":"tool_call","tool_name":"x","tool_use_id":"1","parent_tool_use_id":null,"input":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
    ),
  'deep-final'(ref, order) {
    const { receipt, ...envelope } = final(ref, order);
    const line = JSON.stringify({ ...envelope, receipt: { ...receipt, usage_raw: 'DEEP' } });
    say(line.replace('"DEEP"', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`));
  },
  partial(ref, order) {
    const { receipt, ...envelope } = final(ref, order);
    say({ ...envelope, receipt: { ...receipt, outcome: 'partial' } });
  },
  'closes-output': () => {
    closeSync(1);
    setInterval(() => undefined, 1000);
  },
  good(ref, order) {
    say(event(ref, { type: 'assistant_message', text: `did: ${order.task} in ${order.workspace.root}` }));
    say(final(ref, order));
  },
  'leaves-process': (ref, order) => WORK.good(ref, order),
  'events-after-final'(ref, order) {
    say(final(ref, order));
    say(event(ref, { type: 'warning', message: 'late' }));
  },
  'two-finals'(ref, order) {
    say(final(ref, order));
    say(final(ref, order));
  },
  'long-line'(ref) {
    process.stdout.write(`{"t":"event","ref_id":"${ref}","event":{"type":"warning","message":"`);
    for (let at = 0; at < 20; at += 1) process.stdout.write('x'.repeat(1024 * 1024));
    process.stdout.write('"}}\n');
  },
  'not-utf8'() {
    process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]));
  },
  words: () => say('Working on it…'),
  'foreign-ref': (_ref, order) => {
    say({ ...final(order.id, order), ref_id: 'somebody else' });
    process.exit(0);
  },
  dies: () => process.exit(7),
  floods(ref) {
    const line = `${JSON.stringify(event(ref, { type: 'assistant_delta', text: 'x' }))}\n`.repeat(1000);
    const more = () => {
      while (process.stdout.write(line));
      process.stdout.once('drain', more);
    };
    more();
  },
  hangs: () => undefined,
  // Deaf to signals, with a child that is deaf as well and a grandchild in another group.
  stubborn(ref) {
    process.on('SIGTERM', () => undefined);
    process.on('SIGINT', () => undefined);
    const deaf = 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000);';
    spawn(process.execPath, ['-e', deaf], { stdio: 'ignore' });
    spawn(process.execPath, ['-e', deaf], { stdio: 'ignore', detached: true }).unref();
    setInterval(() => undefined, 1000);
    say(event(ref, { type: 'assistant_message', text: 'settled in' }));
  },
  // Lines without an end, more than anybody should keep.
  'floods-errors'(ref, order) {
    process.stderr.write('e'.repeat(24 * 1024 * 1024), () => say(final(ref, order)));
  },
  'long-events'(ref, order) {
    for (let at = 0; at < 4; at += 1) say(event(ref, { type: 'assistant_message', text: 'y'.repeat(4 * 1024 * 1024) }));
    say(final(ref, order));
  },
  'pong-after-final'(ref, order) {
    say(final(ref, order));
    say({ t: 'pong', seq: 1 });
  },
  fatal: (ref) => say({ t: 'fatal', ref_id: ref, error: 'no key', error_code: 'backend_auth_failed' }),
};

process.stderr.write('the sidecar was here\n');
// Greeted first by itself; what is wrong with a hello shows then.
if (how === 'ends-unheard') process.exit(3);
if (how === 'no-hello') setInterval(() => undefined, 1000);
else if (how === 'wrong-version') say(hello('abp/v9.0'));
else say(hello());

createInterface(process.stdin)
  .on('line', (line) => {
    const { t, id, work_order: order, seq } = JSON.parse(line);
    if (t === 'run') WORK[how]?.(id, order);
    if (t === 'ping' && how !== 'hangs' && how !== 'closes-output') say({ t: 'pong', seq });
  })
  .on('close', () => how !== 'stubborn' && process.exit(0));
