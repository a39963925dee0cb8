import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { callAbp } from '../support/run-abp.ts';

const body = { model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };

test('a team, its user, a key and a budget are made, seen, changed and deleted on the command line', async () => {
  const gateway = await startGateway({ config: { auth: { local: false } } });
  onTestFinished(gateway.close);
  const abp = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await callAbp([...argv, '--no-color', '--home', gateway.home]);
    expect([code, err], argv.join(' ')).toEqual([0, '']);
    return out;
  };
  expect(await abp('teams', 'create', 'blue', '--name', 'Blue team', '--concurrency', '4')).toContain('There is a team blue.');
  expect(await abp('users', 'create', 'ann', '--team', 'blue')).toContain('abp keys create NAME --user ann');
  expect(await abp('users', 'list')).toMatch(/ann {2,}ann {2,}– {2,}blue {2,}\d{4}-\d\d-\d\d/);
  expect(await abp('teams', 'list')).toMatch(/blue {2,}Blue team {2,}ann {2,}concurrency 4/);
  const { secret, user } = JSON.parse(await abp('keys', 'create', 'laptop', '--user', 'ann', '--json'));
  expect(user).toBe('ann');
  const { id } = JSON.parse(await abp('budgets', 'create', '--team', 'blue', '--requests', '2', '--usd', '0.5', '--json'));
  const call = async (): Promise<number> => (await post(`${gateway.url}/e/sim/v1/messages`, body, ['x-api-key', secret])).status;
  expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
  expect(await abp('budgets', 'list')).toMatch(
    /team blue {2,}month {2,}\$0\.00 of \$0\.50, 2 calls of 2 calls {2,}\d{4}-\d\d-01 00:00 {2,}2 calls without a price/,
  );
  expect(await abp('budgets', 'set', id, '--requests', '3')).toContain('holds as changed');
  expect([await call(), await call()]).toEqual([200, 429]);
  expect(await abp('budgets', 'delete', id)).toBe(`${id} is deleted.\n`);
  expect(await call()).toBe(200);
  expect(await abp('users', 'set', 'ann', '--without-teams')).toContain('changed');
  expect(await abp('teams', 'set', 'blue', '--unlimited')).toContain('limits hold');
  const robot = JSON.parse(await abp('keys', 'create', 'robot', '--team', 'blue', '--json'));
  const refused = await callAbp(['teams', 'delete', 'blue', '--no-color', '--home', gateway.home]);
  expect([refused.code, refused.err]).toEqual([expect.any(Number), expect.stringContaining(robot.id)]);
  expect([refused.code === 0, refused.err.includes('--revoke-keys')]).toEqual([false, true]);
  expect(await abp('teams', 'delete', 'blue', '--force')).toBe(
    'The team blue is deleted; keys that were given to it are revoked, its budgets are deleted, its users stay.\n',
  );
  expect(await abp('users', 'delete', 'ann')).toContain('revoked');
  expect(await call()).toBe(401);
});

test('limits of a key are changed and removed on the command line, and hold from the next call on', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const abp = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await callAbp([...argv, '--no-color', '--home', gateway.home]);
    expect([code, err], argv.join(' ')).toEqual([0, '']);
    return out;
  };
  const { id, secret } = JSON.parse(await abp('keys', 'create', 'laptop', '--json'));
  const call = async (): Promise<number> => (await post(`${gateway.url}/e/sim/v1/messages`, body, ['x-api-key', secret])).status;
  expect(await call()).toBe(200);
  expect(await abp('keys', 'set', id, '--requests-per-minute', '2')).toContain('from the next call on');
  expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
  await abp('keys', 'set', id, '--unlimited');
  expect(await call()).toBe(200);
  await abp('keys', 'set', id, '--service', 'nightly');
  expect(JSON.parse(await abp('keys', 'list', '--json')).items).toContainEqual(
    expect.objectContaining({ id, service: 'nightly', limits: {} }),
  );
});

test.each([
  [['budgets', 'create', '--requests', '3'], 'the budget is for nobody'],
  [['budgets', 'create', '--key', 'local', '--tag', 'a', '--requests', '3'], 'the budget is for several'],
  [['budgets', 'create', '--key', 'local'], 'the budget has no limit'],
  [['budgets', 'create', '--key', 'local', '--usd', 'much'], "'much' is not an amount of dollars"],
  [['keys', 'set', 'key_1'], 'nothing is to be changed'],
  [['keys', 'set', 'key_1', '--unlimited', '--concurrency', '2'], 'limits and none'],
  [['users', 'set', 'ann'], 'nothing is to be changed'],
  [['teams', 'delete', 'blue', '--revoke-keys', '--keep-keys'], 'not both'],
])('%j is a mistake that is told before anybody is asked', async (argv, message) => {
  const { code, err } = await callAbp([...argv, '--home', '/nonexistent']);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});
