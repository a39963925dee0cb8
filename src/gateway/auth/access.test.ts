import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/support/principals.ts';
import { authorize, maySee, type Need } from './access.ts';
import type { Principal } from './principal.ts';

function verdict(principal: Principal, need: Need): string {
  try {
    authorize(principal, need);
    return 'may';
  } catch (error) {
    return (error as { code: string }).code; // authorize throws AbpError alone
  }
}

const NEEDS: readonly Need[] = [
  { kind: 'public' },
  { kind: 'read' },
  { kind: 'plane', plane: 'agent' },
  { kind: 'plane', plane: 'run' },
  { kind: 'control' },
];

describe('the access table', () => {
  it.each<[string, Principal, string[]]>([
    ['anonymous', { kind: 'anonymous' }, ['may', ...Array(4).fill('unauthenticated')]],
    ['local', { kind: 'local' }, ['may', 'may', 'may', 'forbidden', 'forbidden']],
    ['the token', { kind: 'token' }, Array(5).fill('may')],
    ['an admin key', keyOf({ admin: true }), Array(5).fill('may')],
    ['a plain key', keyOf({}), ['may', 'may', 'forbidden', 'forbidden', 'forbidden']],
    ['a run key', keyOf({ planes: ['run'] }), ['may', 'may', 'forbidden', 'may', 'forbidden']],
  ])('%s', (_, principal, expected) => {
    expect(NEEDS.map((need) => verdict(principal, need))).toEqual(expected);
  });

  it('says what is missing without showing the key', () => {
    expect(() => authorize(keyOf({}), { kind: 'control' })).toThrow(
      expect.objectContaining({ message: 'The key abp_test… may not do this; it lacks admin.', details: { scope: 'admin' } }),
    );
  });
});

describe('maySee', () => {
  it.each<[string, Principal, boolean[]]>([
    ['local sees runs without a key', { kind: 'local' }, [true, false, false]],
    ['a key sees its own runs', keyOf({}), [false, true, false]],
    ['an admin key sees all', keyOf({ admin: true }), [true, true, true]],
    ['the token sees all', { kind: 'token' }, [true, true, true]],
    ['anonymous sees nothing', { kind: 'anonymous' }, [false, false, false]],
  ])('%s', (_, principal, expected) => {
    expect([null, 'key_1', 'key_2'].map((id) => maySee(principal, id))).toEqual(expected);
  });
});
