// A sidecar that tells a text wherever the protocol has room for words. Its arguments: how it ends, and the file that holds the text.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [how, file] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const say = (envelope) => process.stdout.write(`${JSON.stringify(envelope)}\n`);

process.stderr.write(`${text}\n`);
if (how === 'unheard') process.exit(3);
say({
  t: 'hello',
  contract_version: 'abp/v0.1',
  backend: { id: text, backend_version: text, adapter_version: text },
  capabilities: { streaming: 'native' },
  mode: 'mapped',
});

const EVENTS = [
  { type: 'run_started', message: text },
  { type: 'assistant_delta', text },
  { type: 'assistant_message', text },
  { type: 'tool_call', tool_name: text, tool_use_id: text, parent_tool_use_id: null, input: { [text]: [text] } },
  { type: 'tool_result', tool_name: text, tool_use_id: text, output: { text }, is_error: false },
  { type: 'file_changed', path: text, summary: text },
  { type: 'command_executed', command: text, exit_code: 0, output_preview: text },
  { type: 'warning', message: text },
  { type: 'error', message: text },
  { type: 'run_completed', message: text },
  { type: text, message: text },
];

createInterface(process.stdin)
  .on('line', (line) => {
    const { t, id, work_order: order, seq } = JSON.parse(line);
    if (t === 'ping') say({ t: 'pong', seq });
    if (t !== 'run') return;
    for (const event of EVENTS) say({ t: 'event', ref_id: id, event: { ts: new Date().toISOString(), ...event } });
    process.stdout.write(`${text}\n`);
    if (how === 'fatal') say({ t: 'fatal', ref_id: id, error: text, error_code: 'backend_auth_failed' });
    else if (how === 'dies') process.exit(7);
    else say({ t: 'final', ref_id: id, receipt: receiptOf(id, order) });
  })
  .on('close', () => process.exit(0));

function receiptOf(id, order) {
  const at = '2026-01-02T03:04:05Z';
  return {
    meta: { run_id: id, work_order_id: order.id, contract_version: 'abp/v0.1', started_at: at, finished_at: at, duration_ms: 1 },
    backend: { id: text, backend_version: text, adapter_version: text },
    capabilities: {},
    mode: 'mapped',
    usage_raw: { [text]: text },
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cache_read_tokens: null,
      cache_write_tokens: null,
      request_units: null,
      estimated_cost_usd: null,
    },
    trace: [{ ts: at, type: 'warning', message: text }],
    artifacts: [{ kind: text, path: text }],
    verification: { git_diff: text, git_status: text, harness_ok: true },
    outcome: 'complete',
    receipt_sha256: null,
  };
}
