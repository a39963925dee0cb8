import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { assertPolicyHolds } from '../../src/runtime/runs/ground/ground.ts';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { PaperGateway } from './paper.ts';

/** A run that may not use a tool, beside a server that lets callers in without a key and lends this process its gateway. */
async function refusalOf(sandbox: boolean): Promise<unknown> {
  const cwd = mkdtempSync(join(tmpdir(), 'abp-ground-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const options = { agent: 'claude', prompt: 'hi', sandbox, policy: { disallowed_tools: ['Bash'] } };
  const port = Object.assign(new PaperGateway(), { enforcement: 'advisory' as const });
  const traffic = { kind: 'gateway', engine: 'sim', credential: 'ours', forcedModel: null } as const;
  const judging = { adapter: fakeAdapter('plain'), options, cwd, home: `${cwd}-home`, port, traffic };
  return await assertPolicyHolds(judging).catch((error: unknown) => error);
}

it('a rule about tools that nothing holds names the sandbox as the way out, and where one was asked for, why there is none', async () => {
  expect(await refusalOf(false)).toMatchObject({
    code: 'E005',
    message: expect.stringContaining('callers without a key may come past the gateway: run with --sandbox, or close auth.local'),
  });
  expect(await refusalOf(true)).toMatchObject({
    code: 'E005',
    message: expect.stringContaining('and there is no sandbox: a room is opened by the process that has the gateway'),
  });
});
