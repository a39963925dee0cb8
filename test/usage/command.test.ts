import { expect, onTestFinished, test } from 'vitest';
import { sparkline } from '../../src/cli/commands/usage.ts';
import { compact } from '../../src/cli/numbers.ts';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { callAbp } from '../support/run-abp.ts';

test('abp usage shows a table of calls, and JSON for programs', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  for (const content of ['hi', 'fail with 500'])
    await post(`${gateway.url}/e/sim/v1/messages`, { model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content }] }, [
      'x-abp-tags',
      'blue',
    ]);
  await gateway.gateway.keeper.settled();
  const env = { ABP_HOME: gateway.home };
  const { code, out: stdout } = await callAbp(['usage', '--since', '2h', '--by', 'tag,status'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/Tag +Status +Calls +Failed +In +Out +Cached +Cost/);
  expect(stdout).toMatch(/blue +completed +1 +0 .*no price/);
  expect(stdout).toMatch(/blue +failed +1 +1 /);
  const { out: json } = await callAbp(['usage', '--json'], { env });
  expect(JSON.parse(json).groups[0]).toMatchObject({ key: { engine: 'sim', model: 'sim-1' }, runs: [2] });
  const wrong = await callAbp(['usage', '--since', 'soon'], { env });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("'soon' is not a time")]);
});

test('figures are short, and a series is a line', () => {
  expect([999, 18_200, 254_000_000].map(compact)).toEqual(['999', '18.2k', '254M']);
  expect(sparkline([0, 1, 4, 8])).toBe(' ▁▄█');
  expect(sparkline(Array.from({ length: 48 }, () => 1))).toBe('█'.repeat(24));
});
