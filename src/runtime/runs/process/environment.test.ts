import { expect, it } from 'vitest';
import { allowedEnvironment, childEnvironment } from './environment.ts';

const base = {
  PATH: '/bin',
  HOME: '/me',
  LC_ALL: 'C',
  ANTHROPIC_API_KEY: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  NO_PROXY: 'corp.test, localhost',
};

it('hands on what a child needs and no credential', () => {
  expect(allowedEnvironment(base)).toEqual({ PATH: '/bin', HOME: '/me', LC_ALL: 'C' });
  expect(allowedEnvironment(base, ['ANTHROPIC_API_KEY'])).toMatchObject({ ANTHROPIC_API_KEY: 'secret' });
});

it('keeps calls to this machine away from proxies, and lets the caller have the last word', () => {
  const env = childEnvironment({ base, keep: [], adapter: { A: 'adapter', B: 'adapter' }, caller: { B: 'caller' }, runId: 'run_1' });
  expect(env).toEqual({
    PATH: '/bin',
    HOME: '/me',
    LC_ALL: 'C',
    NO_PROXY: 'corp.test,localhost,127.0.0.1,::1',
    no_proxy: 'corp.test,localhost,127.0.0.1,::1',
    A: 'adapter',
    B: 'caller',
    ABP_RUN_ID: 'run_1',
  });
});

it('tells an agent the span of its run, where traces are collected', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const sources = { base, keep: [], adapter: {}, caller: {}, runId: 'run_1' };
  expect(childEnvironment({ ...sources, traceparent }).TRACEPARENT).toBe(traceparent);
  expect(childEnvironment(sources)).not.toHaveProperty('TRACEPARENT');
});
