// A sidecar that runs the script `escapes.sh` of its workspace and keeps what that printed in `printed.txt`.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const say = (envelope) => process.stdout.write(`${JSON.stringify(envelope)}\n`);
const backend = { id: 'escaping', backend_version: null, adapter_version: null };
say({ t: 'hello', contract_version: 'abp/v0.1', backend, capabilities: { streaming: 'native' }, mode: 'mapped' });

createInterface(process.stdin).on('line', (line) => {
  const { t, id, work_order: order } = JSON.parse(line);
  if (t !== 'run') return;
  const { root } = order.workspace;
  const { stdout } = spawnSync('bash', ['escapes.sh'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 24 });
  writeFileSync(join(root, 'printed.txt'), stdout);
  const at = new Date().toISOString();
  say({
    t: 'final',
    ref_id: id,
    receipt: {
      meta: { run_id: id, work_order_id: order.id, contract_version: 'abp/v0.1', started_at: at, finished_at: at, duration_ms: 0 },
      ...{ backend, capabilities: {}, mode: 'mapped', usage_raw: {}, usage: {}, trace: [], artifacts: [] },
      ...{ verification: { harness_ok: true }, outcome: 'complete', receipt_sha256: null },
    },
  });
});
