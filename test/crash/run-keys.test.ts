import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call } from '../support/http-call.ts';
import { startServe } from '../support/serve.ts';

/** An agent that tells its environment to a file and then works for a long time. */
function telling(folder: string, file: string): string {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'claude');
  const words = `case "$*" in *--version*) echo "2.1.0 (Claude Code)"; exit 0;; esac\nenv > "${file}.part"; mv "${file}.part" "${file}"\nexec sleep 600`;
  writeFileSync(program, `#!/bin/sh\n${words}\n`);
  chmodSync(program, 0o755);
  return `${folder}${delimiter}${process.env.PATH ?? ''}`;
}

it('the key of a run dies with the server that is killed, once the next one has closed the run', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-run-keys-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const file = join(parent, 'told');
  mkdirSync(join(parent, 'work'));
  const env = { PATH: telling(join(parent, 'bin'), file) };
  const asked = { agent: 'claude', prompt: 'work', cwd: join(parent, 'work'), engine: 'sim', model: 'sim-1', env };
  const first = await startServe(join(parent, 'home'), {});
  const bearer = (token: string): string[] => ['authorization', `Bearer ${token}`, 'content-type', 'application/json'];
  const token = readFileSync(join(parent, 'home', 'token'), 'utf8').trim();
  const started = await call(`${first.url}/v1/runs`, { method: 'POST', headers: bearer(token), body: JSON.stringify(asked) });
  expect([started.status, started.body.toString().slice(0, 200)]).toEqual([expect.toSatisfy((status) => status < 300), expect.anything()]);
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true);
  const key = /=(abp_[\w-]+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? expect.fail('the agent has no key');
  const use = async (url: string): Promise<number> =>
    (
      await call(`${url}/e/sim/v1/messages`, {
        method: 'POST',
        headers: bearer(key),
        body: JSON.stringify({ model: 'sim-1', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
      })
    ).status;
  expect(await use(first.url)).toBe(200);
  await first.end('SIGKILL');
  const second = await startServe(join(parent, 'home'), {});
  await expect.poll(() => use(second.url), { timeout: 60_000 }).toBe(401);
  const { run_id: run } = JSON.parse(started.body.toString());
  const receipt = await call(`${second.url}/v1/receipts/${run}?wait=30`, { headers: bearer(token) });
  expect(JSON.parse(receipt.body.toString()).status).toBe('failed');
  await second.end('SIGTERM');
});
