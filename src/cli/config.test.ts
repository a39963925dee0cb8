import { expect, it } from 'vitest';
import { AbpError } from '../contract/errors.ts';
import { withConfig } from './config.ts';
import { toFailure } from './failure.ts';

async function failureOf(thrown: Error) {
  const work = withConfig(() => {
    throw thrown;
  });
  return toFailure(
    await work.then(
      () => new Error('it did not fail'),
      (error: unknown) => error,
    ),
  );
}

it('a configuration that is not valid ends with its own code and keeps its details', async () => {
  const thrown = new AbpError('invalid_request', 'abp.toml is not valid: server.port: expected number', {
    issues: [{ path: 'server.port' }],
  });
  expect(await failureOf(thrown)).toEqual({
    exit: 'config',
    error: {
      code: 'config',
      type: 'ConfigError',
      message: 'abp.toml is not valid: server.port: expected number',
      details: { issues: [{ path: 'server.port' }] },
      retryable: false,
      hint: 'Correct the values it names; abp config check shows the ones in effect.',
    },
  });
});

it('other errors keep their own code', async () => {
  expect((await failureOf(new AbpError('conflict', 'another server runs'))).exit).toBe('general');
  expect((await failureOf(new AbpError('E007', 'the database is down'))).exit).toBe('unavailable');
});

it('a message of several lines becomes one', () => {
  expect(toFailure(new Error('first\n  second\n')).error.message).toBe('first; second');
});
