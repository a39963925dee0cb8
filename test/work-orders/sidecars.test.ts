import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { stopwatch } from '../support/processor-time.ts';
import { type Answer, callRoute, endedReceipt } from './control-call.ts';

const SIDECAR = fileURLToPath(new URL('./sidecar.mjs', import.meta.url));
const KINDS = [
  'good',
  'no-hello',
  'wrong-version',
  'events-after-final',
  'two-finals',
  'long-line',
  'not-utf8',
  'words',
  'foreign-ref',
  'dies',
  'floods',
  'hangs',
  'stubborn',
  'fatal',
  'artifacts',
  'forged',
  'second-hello',
  'writes-run',
  'a-list',
  'too-deep',
  'deep-call',
  'deep-final',
  'partial',
  'closes-output',
  'ends-unheard',
  'floods-errors',
  'long-events',
  'pong-after-final',
  'leaves-process',
  'gives-up',
];

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-orders-'));
  writeFileSync(join(folder, 'a.txt'), 'a\n');
  const sidecars = Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      {
        command: [process.execPath, SIDECAR, kind],
        handshake_s: kind === 'no-hello' ? 1 : 60,
        heartbeat_s: kind === 'hangs' || kind === 'closes-output' ? 0.5 : 60,
      },
    ]),
  );
  server = await startGateway({ config: { sidecars } });
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: object): ReturnType<typeof callRoute> => callRoute(server, method, path, body);

const order = (task = 'do it') => workOrder(task).workspace({ root: folder }).build();

const ended = (run: unknown): Promise<Answer> => endedReceipt(server, run);

/** Processes whose command line names the test sidecar. */
function sidecarProcesses(run: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`ABP_RUN_ID=${run}`);
      } catch {
        return false; // it ended, or is somebody else's
      }
    });
}

it('runs a work order on a sidecar, with events and a receipt that names the order', async () => {
  const asked = order();
  const { status, body } = await call('POST', '/v1/work-orders?backend=sidecar:good', asked);
  expect(status).toBe(202);
  expect(body).toMatchObject({ work_order_id: asked.id, backend: 'sidecar:good', status: 'running' });
  const receipt = await ended(body.run_id);
  expect(receipt).toMatchObject({
    status: 'completed',
    backend: { id: 'sidecar:good', version: '1' },
    work_order: { id: asked.id, lane: 'patch_first', chosen_by: 'caller' },
    usage: { input_tokens: 5, output_tokens: 7 },
    change_set: { state: 'staged', added: 0 },
  });
  const events = await (await fetch(`${server.url}/v1/runs/${body.run_id}/events`, { headers: { 'x-abp-key': server.token } })).text();
  expect(events).toContain('did: do it in ');
  expect(events).toContain('the sidecar was here');
});

it('keeps what a sidecar says that it made, and whether the hash of its own receipt is right', async () => {
  const { body } = await call('POST', '/v1/work-orders?backend=sidecar:artifacts', order());
  const receipt = await ended(body.run_id);
  expect(receipt.artifacts).toEqual([
    expect.objectContaining({ kind: 'patch', path: 'patch.diff' }),
    { kind: 'report', path: 'report.txt', sha256: createHash('sha256').update('all well\n').digest('hex') },
    // A path that leads out is kept as the sidecar's word, and nothing is read there.
    { kind: 'report', path: '../../../../etc/hostname', sha256: null },
  ]);
  expect(receipt.sidecar_receipt).toMatchObject({ verified: true, outcome: 'complete' });
  const { body: other } = await call('POST', '/v1/work-orders?backend=sidecar:forged', order());
  expect((await ended(other.run_id)).sidecar_receipt).toMatchObject({ verified: false });
});

it('stands in the lists of backends and in the matrix with what its hello says, and can be negotiated with', async () => {
  const backends = (await call('GET', '/v1/backends')).body.items as Answer[];
  expect(backends).toContainEqual({
    ...{ id: 'sidecar:good', name: 'test', kind: 'sidecar' },
    capabilities: { streaming: 'native', tool_read: 'emulated' },
    manifest: { streaming: 'native', tool_read: 'emulated' },
  });
  expect(backends.find(({ id }) => id === 'sidecar:wrong-version')).toMatchObject({
    capabilities: {},
    obstacle: expect.stringContaining('abp/v9.0'),
  });
  const { capabilities } = (await call('GET', '/v1/matrix')).body;
  expect(capabilities).toContainEqual({ capability: 'tool_read', backend: 'sidecar:good', level: 'emulated', source: 'hello' });
  const requirements = { required: [{ capability: 'tool_read', min_support: 'native' }] };
  const { body } = await call('POST', '/v1/negotiate', { backend: 'sidecar:good', requirements });
  expect(body.unmet).toEqual([{ capability: 'tool_read', min_support: 'native', level: 'emulated' }]);
  expect((await call('GET', '/v1/backends/sidecar:none')).status).toBe(404);
});

describe('a sidecar that is not as it should be', () => {
  it.each([
    ['no-hello', 'E007'],
    ['wrong-version', 'E007'],
    ['ends-unheard', 'E007'],
    ['gives-up', 'E007'],
  ])('%s is refused before a run starts, as %s', async (kind, code) => {
    const { status, body } = await call('POST', `/v1/work-orders?backend=sidecar:${kind}`, order());
    expect([status, body.error?.code]).toEqual([503, code]);
  });

  it.each([
    ['events-after-final', 'PROTOCOL_UNEXPECTED_MESSAGE'],
    ['two-finals', 'PROTOCOL_UNEXPECTED_MESSAGE'],
    ['long-line', 'PROTOCOL_INVALID_ENVELOPE'],
    ['not-utf8', 'PROTOCOL_INVALID_ENVELOPE'],
    ['words', 'PROTOCOL_INVALID_ENVELOPE'],
    ['foreign-ref', 'AGENT_CRASH'],
    ['dies', 'AGENT_CRASH'],
    ['hangs', 'INACTIVITY_TIMEOUT'],
    ['fatal', 'SIDECAR_FAILED'],
    ['second-hello', 'PROTOCOL_UNEXPECTED_MESSAGE'],
    ['writes-run', 'PROTOCOL_UNEXPECTED_MESSAGE'],
    ['a-list', 'PROTOCOL_INVALID_ENVELOPE'],
    ['too-deep', 'PROTOCOL_INVALID_ENVELOPE'],
    ['deep-call', 'PROTOCOL_INVALID_ENVELOPE'],
    ['deep-final', 'PROTOCOL_INVALID_ENVELOPE'],
    ['partial', 'SIDECAR_FAILED'],
    ['closes-output', 'INACTIVITY_TIMEOUT'],
    ['floods', 'PROTOCOL_UNEXPECTED_MESSAGE'],
  ])('%s ends the run with %s, and nothing is left of it', async (kind, code) => {
    const { status, body } = await call('POST', `/v1/work-orders?backend=sidecar:${kind}`, order());
    expect(status).toBe(202);
    const receipt = await ended(body.run_id);
    expect([receipt.status, receipt.error?.code]).toEqual(['failed', code]);
    await expect.poll(() => sidecarProcesses(String(body.run_id))).toEqual([]);
    expect((await call('GET', '/healthz')).status).toBe(200);
  });

  it.each(['floods-errors', 'long-events', 'pong-after-final'])('%s is allowed, and the run completes', async (kind) => {
    const { body } = await call('POST', `/v1/work-orders?backend=sidecar:${kind}`, order());
    const receipt = await ended(body.run_id);
    expect([receipt.status, receipt.error]).toEqual(['completed', null]);
    // Error output is told up to a measure.
    expect(receipt.event_count).toBeLessThan(200);
    const { result } = (await call('GET', `/v1/runs/${body.run_id}`)).body as { result?: { text?: string } };
    expect(result?.text?.length ?? 0).toBeLessThan(5 * 1024 * 1024);
  });

  it('leaves no descriptors open', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const run = async (): Promise<void> => {
      const { body } = await call('POST', '/v1/work-orders?backend=sidecar:dies', order());
      await ended(body.run_id);
    };
    await run();
    const before = open();
    for (let at = 0; at < 5; at += 1) await run();
    await expect.poll(open).toBeLessThanOrEqual(before + 2);
  });
});

it('ends every process of a cancelled run, also of one that hears no signal, within five seconds', async () => {
  const { body } = await call('POST', '/v1/work-orders?backend=sidecar:stubborn', order());
  const run = String(body.run_id);
  await expect.poll(() => sidecarProcesses(run).length).toBeGreaterThanOrEqual(3);
  const watch = stopwatch();
  expect((await call('POST', `/v1/runs/${run}/cancel`)).status).toBe(202);
  await expect.poll(() => sidecarProcesses(run), { interval: 50 }).toEqual([]);
  const { ms, lost } = watch();
  expect(ms - lost).toBeLessThan(15_000);
  expect((await ended(run)).status).toBe('cancelled');
});

it('says what a sidecar says that gives up at once', async () => {
  const { body } = await call('POST', '/v1/work-orders?backend=sidecar:gives-up', order());
  expect(body.error?.message).toBe('sidecar:gives-up is not available: it gave up: there is no licence');
});

it('leaves no process that a sidecar has started aside, neither of its run nor of the greeting before it', async () => {
  const left = (): string[] =>
    readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('left-by-a-sidecar');
      } catch {
        return false; // it ended
      }
    });
  const { body } = await call('POST', '/v1/work-orders?backend=sidecar:leaves-process', order());
  expect((await ended(body.run_id)).status).toBe('completed');
  await expect.poll(left).toEqual([]);
});

it('refuses an order whose requirements a sidecar does not meet, before anything starts', async () => {
  const asked = workOrder('t')
    .workspace({ root: folder })
    .requirements({ required: [{ capability: 'tool_read', min_support: 'native' }] })
    .build();
  const { status, body } = await call('POST', '/v1/work-orders?backend=sidecar:good', asked);
  expect([status, body.error?.code]).toEqual([501, 'E006']);
});
