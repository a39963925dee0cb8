import { expect, it } from 'vitest';
import { AbpError } from '../contract/errors.ts';
import { newRunId } from '../contract/run-id.ts';
import { Admission, type Check, EngineDoor } from './admission.ts';
import type { Call } from './call.ts';

const call: Call = {
  runId: newRunId(),
  way: 'mapped',
  owner: { keyId: null, parent: null, tags: [] },
  engine: 'sim',
  model: 'm',
  dialect: 'claude',
  mode: 'mapped',
};

function world(): { door: EngineDoor; log: string[] } {
  const log: string[] = [];
  const door = new EngineDoor({
    transport: () => {
      log.push('sent');
      return { abort: () => undefined, resume: () => undefined };
    },
    missing: (credential) => void log.push(`key: ${credential}`) as undefined,
  });
  return { door, log };
}

function counting(name: string, log: string[]): Check {
  return {
    name,
    check: () => {
      log.push(name);
      return ({ status }) => void log.push(`${name}: ${status}`);
    },
  };
}

const refusing: Check = { name: 'policy', check: () => new AbpError('E005', 'no', { operation: 'call', policy_rule: 'r' }) };
const request = { method: 'POST', origin: '', path: '/', headers: [], body: null, silenceMs: 1, runHex: '' };
const sink = { head: () => undefined, data: () => true, end: () => undefined, fail: () => undefined };

it('asks the checks in their order, then for the key, and tells each check once how the call ended', () => {
  const { door, log } = world();
  const admitted = new Admission([counting('budget', log), counting('limits', log)]).admit(call, door);
  admitted.send(request, sink);
  admitted.settle({ status: 'completed', usage: null, upstreamModel: null, nanoUsd: null });
  admitted.settle({ status: 'failed', usage: null, upstreamModel: null, nanoUsd: null });
  expect(log).toEqual(['budget', 'limits', 'key: ours', 'sent', 'budget: completed', 'limits: completed']);
});

it('gives back what earlier checks took when a later one refuses', () => {
  const { door, log } = world();
  const admission = new Admission([counting('budget', log), refusing, counting('limits', log)]);
  expect(() => admission.admit(call, door)).toThrow(expect.objectContaining({ code: 'E005' }));
  expect(log).toEqual(['budget', 'budget: refused']);
});

it('gives back what earlier checks took when a later one breaks, and when the key is missing', () => {
  const { log } = world();
  const broken: Check = {
    name: 'broken',
    check: () => {
      throw new TypeError('a fault');
    },
  };
  expect(() => new Admission([counting('budget', log), broken]).admit(call, null)).toThrow('a fault');
  const keyless = new EngineDoor({
    transport: () => ({ abort: () => undefined, resume: () => undefined }),
    missing: () => new AbpError('E007', 'no key', { backend_id: 'engine:sim', reason: 'no key' }),
  });
  expect(() => new Admission([counting('limits', log)]).admit(call, keyless)).toThrow('no key');
  expect(log).toEqual(['budget', 'budget: refused', 'limits', 'limits: refused']);
});

it('holds the permission of the key before every other check', () => {
  const { door, log } = world();
  const admission = new Admission([counting('budget', log)]);
  const held = { ...call, owner: { ...call.owner, scopes: { engines: ['claude'] } } };
  expect(() => admission.admit(held, door)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  expect(log).toEqual([]);
});

const breaking: Check = {
  name: 'breaking',
  check: () => () => {
    throw new Error('no price for that');
  },
};

it('tells the other checks of the end of a call where one breaks', () => {
  const { door, log } = world();
  const admitted = new Admission([breaking, counting('limits', log)]).admit(call, door);
  expect(() => admitted.settle({ status: 'completed', usage: null, upstreamModel: null, nanoUsd: null })).toThrow('no price for that');
  expect(log).toContain('limits: completed');
});

it('tells the other checks of a refusal where one breaks', () => {
  const { door, log } = world();
  expect(() => new Admission([breaking, counting('limits', log), refusing]).admit(call, door)).toThrow('no price for that');
  expect(log).toContain('limits: refused');
});
