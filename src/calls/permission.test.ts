import { expect, it } from 'vitest';
import { WAYS } from './call.ts';
import { type PermissionAsk, permission } from './permission.ts';
import type { Scopes } from './scopes.ts';

function missing(scopes: Scopes | undefined, ask: Partial<PermissionAsk> = {}): unknown {
  const owner = { scopes, keyPrefix: 'abp_test' };
  return permission({ way: 'relay', engine: 'sim', model: 'm', ...ask, owner })?.details.scope;
}

it('holds every way to the planes of the key, and unread paths to the scope raw', () => {
  const lacking = (scopes: Scopes | undefined): unknown[] => WAYS.map((way) => missing(scopes, { way }));
  const nothing = WAYS.map(() => undefined);
  expect(lacking(undefined)).toEqual(nothing);
  expect(lacking({ admin: true })).toEqual(nothing);
  expect(lacking({})).toEqual([undefined, undefined, 'raw', 'raw', 'plane agent', 'plane run']);
  expect(lacking({ raw: true, planes: ['gateway', 'agent', 'run'] })).toEqual(nothing);
  expect(lacking({ planes: ['run'] })).toEqual([...Array(4).fill('plane gateway'), 'plane agent', undefined]);
});

it('holds engines, models and coding agents to their patterns', () => {
  const scopes: Scopes = { planes: ['gateway', 'run'], engines: ['sim', 'open*'], models: ['small-*'], agents: ['claude'] };
  expect(missing(scopes, { model: 'small-1' })).toBeUndefined();
  expect(missing(scopes, { engine: 'openai', model: 'small-1' })).toBeUndefined();
  expect(missing(scopes, { engine: 'claude', model: 'small-1' })).toBe('engine claude');
  expect(missing(scopes, { model: 'large' })).toBe('model large');
  expect(missing(scopes, { way: 'run', agent: 'codex', model: null })).toBe('agent codex');
  expect(missing(scopes, { way: 'run', agent: 'claude', model: null })).toBeUndefined();
  expect(missing(scopes, { way: 'run', agent: 'claude', direct: true })).toBe('engine direct');
  expect(missing(scopes, { way: 'run', agent: 'claude', engine: null })).toBe('engine of the agent’s own choice');
});

it('a key that is held to some models reaches none that it does not name where it is read', () => {
  const scopes: Scopes = { planes: ['gateway', 'run'], raw: true, models: ['small-*'] };
  const any = expect.stringMatching(/^model of any name/);
  expect(missing(scopes, { model: 'small-1', moreModels: ['small-2'] })).toBeUndefined();
  expect(missing(scopes, { model: 'small-1', moreModels: ['small-2', 'large'] })).toBe('model large');
  expect(missing(scopes, { model: null, moreModels: 'unknown' })).toEqual(any);
  expect(missing(scopes, { way: 'raw', model: null, moreModels: 'unknown' })).toEqual(any);
  expect(missing(scopes, { way: 'run', agent: 'claude', direct: true })).toEqual(any);
  expect(missing({ raw: true }, { way: 'raw', model: null, moreModels: 'unknown' })).toBeUndefined();
});

it('says what is missing without showing the key', () => {
  const owner = { scopes: { engines: ['sim'] }, keyPrefix: 'abp_test' };
  expect(permission({ way: 'relay', engine: 'claude', model: null, owner })?.message).toBe(
    'The key abp_test… may not do this; it lacks engine claude.',
  );
});
