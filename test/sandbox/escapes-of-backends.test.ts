import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { noteSecretFile } from '../../src/home/secret-files.ts';
import { AgentApi } from '../support/agent-api.ts';
import { ESCAPES, escapeScript, layOutside, type Outside, readEscapes } from '../support/escapes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { needing } from '../support/needs.ts';
import { receiptOf } from '../support/receipt-of.ts';

const SIDECAR = fileURLToPath(new URL('./escaping-sidecar.mjs', import.meta.url));
const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : undefined;

let server: TestGateway;
let outside: Outside;
let folder: string;

beforeAll(async () => {
  outside = await layOutside();
  folder = mkdtempSync(join(tmpdir(), 'abp-escaping-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'abp.toml'), 'key = "sk-in-plain"');
  noteSecretFile(join(folder, 'abp.toml'));
  server = await startGateway({ config: { sidecars: { escaping: { command: [process.execPath, SIDECAR] } } } });
});

afterAll(async () => {
  await server.close();
  outside.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Attempts on the backplane itself: its files by their names, and its door as a room sees it. */
const onBackplane = (): readonly (readonly [string, string])[] => {
  const asked = (request: string, word: string): string =>
    `printf '${request}' | timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/8088; cat >&3; cat <&3' 2>/dev/null | grep -q '${word}' && echo FELL`;
  const get = (path: string): string => `GET ${path} HTTP/1.1\\r\\nHost: 127.0.0.1:8088\\r\\nConnection: close\\r\\n\\r\\n`;
  const body = '{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}';
  const post = `POST /e/sim/v1/messages HTTP/1.1\\r\\nHost: 127.0.0.1:8088\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\nContent-Length: ${body.length}\\r\\n\\r\\n${body}`;
  return [
    ['the token of the home', `cat ${server.home}/token 2>/dev/null | grep -q . && echo FELL`],
    // The folder of the run itself is shown, below the home.
    ['the database of the home', `ls ${server.home} 2>/dev/null | grep -v '^runs$' | grep -q . && echo FELL`],
    ['a file with keys of the backplane in the workspace', `cat ${folder}/abp.toml 2>/dev/null | grep -q . && echo FELL`],
    ['folders of other runs', `ls ${server.home}/runs ${server.home}/stages 2>/dev/null | grep -c run_ | grep -qv '^[01]$' && echo FELL`],
    // Folders of these names may be made anew inside the room, where nobody else sees them: the test looks at the real ones.
    ['a write into the home', `(echo x > ${server.home}/runs/planted) 2>/dev/null; false`],
    ['the original of the workspace', `(echo x > ${folder}/planted) 2>/dev/null; false`],
    ['runs of others through the gateway', asked(get('/v1/runs'), '"items"')],
    ['receipts through the gateway', asked(get('/v1/receipts'), '"items"')],
    ['agents through the gateway', asked(get('/v1/agents'), '"items"')],
    ['a model call without a key', asked(post, '"content"')],
  ];
};

const script = (which: 'all' | 'harmless'): string => {
  const more = onBackplane().map(([, attempt], at) => `said=$(${attempt}); echo "BACKPLANE ${at} \${said:-held}"`);
  // By a function: shells write $' where a replacement would mean something else by it.
  return escapeScript(outside, which).replace(/exit 0\n$/, () => `${which === 'all' ? more.join('\n') : ''}\nexit 0\n`);
};

const TASKS: Readonly<Record<string, string>> = {
  'sidecar:escaping': 'escape',
  'engine:sim': 'call the tool Bash with {"command":"bash escapes.sh > printed.txt"}',
};

async function printedBy(backend: string, sandbox: boolean): Promise<string> {
  const order = workOrder(TASKS[backend] ?? '')
    .workspace({ root: folder })
    .config({ vendor: { abp: { sandbox } } })
    .build();
  const { body } = await new AgentApi(server).withToken().call('POST', `/v1/work-orders?backend=${backend}`, order);
  const ended = (): Promise<Receipt | undefined> => receiptOf(server.url, body.run_id, ['x-abp-key', server.token]).catch(() => undefined);
  await expect.poll(ended).toMatchObject({ status: 'completed', error: null });
  const receipt = await receiptOf(server.url, body.run_id, ['x-abp-key', server.token]);
  if (sandbox) expect(receipt.rules).toContainEqual(expect.objectContaining({ rule: 'sandbox', by: 'os' }));
  return readFileSync(join(server.home, 'stages', body.run_id, 'tree', 'printed.txt'), 'utf8');
}

const BACKENDS = Object.keys(TASKS);

it.skipIf(obstacle !== undefined)(
  needing('neither a sidecar nor the loop of a bare model gets anything out of its room', obstacle),
  async () => {
    writeFileSync(join(folder, 'escapes.sh'), script('all'));
    const all = await Promise.all(BACKENDS.map((backend) => printedBy(backend, true)));
    for (const printed of all) {
      const { fell, tried, skipped } = readEscapes(printed);
      expect(fell).toEqual([]);
      expect(tried + skipped.length).toBe(ESCAPES.length);
      const said = [...printed.matchAll(/^BACKPLANE (\d+) (\S+)/gm)].map(([, at, word]) => `${onBackplane()[Number(at)]?.[0]}: ${word}`);
      expect(said).toEqual(onBackplane().map(([name]) => `${name}: held`));
    }
    for (const place of [folder, join(server.home, 'runs')]) expect(existsSync(join(place, 'planted'))).toBe(false);
  },
);

it('both get out where nothing confines them: the suite can fail', async () => {
  writeFileSync(join(folder, 'escapes.sh'), script('harmless'));
  const all = await Promise.all(BACKENDS.map((backend) => printedBy(backend, false)));
  for (const printed of all) {
    const { fell, skipped } = readEscapes(printed);
    const expected = ESCAPES.filter(({ fallsOutside, name }) => fallsOutside === true && !skipped.includes(name));
    expect(fell).toEqual(expected.map(({ name }) => name));
  }
});
