import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/support/principals.ts';
import { Role, type Scopes } from '../../calls/scopes.ts';
import { isVisible } from '../../store/agent-plane/visible.ts';
import { routes } from '../routes/index.ts';
import { authorize, may, maySee, maySteer, seenOnly, seesAll } from './access.ts';
import { visibleTo } from './agent-caller.ts';
import { knownKey } from './key-ring.ts';
import { PERMISSION_NAMES, PERMISSIONS, type Permission, RIGHTS, rowOf } from './permissions.ts';
import type { Principal } from './principal.ts';
import { rightsOfKey } from './rights.ts';

function verdict(principal: Principal, permission: Permission): string {
  try {
    authorize(principal, permission);
    return 'may';
  } catch (error) {
    return (error as { code: string }).code; // authorize throws AbpError alone
  }
}

describe('the table of permissions', () => {
  const written = PERMISSION_NAMES.flatMap((permission) => rowOf(permission).routes);

  it('names every route once, and none that there is not', () => {
    expect(written.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('lets roles without bodies see nothing of what was said', () => {
    for (const role of ['auditor', 'operator'] as const)
      for (const permission of ['bodies', 'bodies.erase', 'runs.watch', 'agents', 'agents.answer', 'engines.call'] as const)
        expect(RIGHTS[role].has(permission), `${role} ${permission}`).toBe(false);
  });

  it('keeps what keys without a role could do', () => {
    const asked: readonly Permission[] = ['public', 'look', 'receipts', 'bodies', 'agents', 'runs', 'keys', 'settings', 'programs'];
    const verdicts = (principal: Principal): string => asked.map((one) => (may(principal, one) ? 'x' : '-')).join('');
    expect([
      verdicts({ kind: 'anonymous' }),
      verdicts({ kind: 'local' }),
      verdicts({ kind: 'token' }),
      verdicts({ kind: 'paired', session: 's' }),
      verdicts(keyOf({ admin: true })),
      verdicts(keyOf({})),
      verdicts(keyOf({ planes: ['run'] })),
      verdicts(keyOf({ planes: ['agent'] })),
    ]).toEqual(['x--------', 'xxxxx----', 'xxxxxxxxx', 'xxxx-----', 'xxxxxxxxx', 'xxxx-----', 'xxxx-x---', 'xxxxx----']);
  });

  it('refuses the unknown with 401 and everybody else with 403', () => {
    expect(verdict({ kind: 'anonymous' }, 'look')).toBe('unauthenticated');
    expect([verdict({ kind: 'local' }, 'keys'), verdict(keyOf({}), 'keys')]).toEqual(['forbidden', 'forbidden']);
  });

  it('says what is missing without showing the key', () => {
    expect(() => authorize(keyOf({}), 'keys')).toThrow(
      expect.objectContaining({
        message: 'The key abp_test… may not do this; it lacks admin.',
        details: { scope: 'admin', permission: 'keys' },
      }),
    );
    expect(() => authorize(keyOf({ role: 'auditor' }), 'bodies')).toThrow(
      expect.objectContaining({
        message: 'The key abp_test… has the role auditor and may not do this; it lacks the permission bodies.',
        details: { scope: 'admin', permission: 'bodies', role: 'auditor' },
      }),
    );
  });
});

describe('the rights of a key', () => {
  it.each(Role.options)('of a user with the role %s are never more than the role, whatever the key says', (role) => {
    const all: Scopes[] = [{}, { admin: true }, { role: 'admin' }, { planes: ['run', 'agent', 'gateway'] }, { role: 'member' }];
    for (const scopes of all) {
      const { permissions, seesAll, scopes: left } = rightsOfKey(scopes, role);
      expect(permissions.isSubsetOf(RIGHTS[role]), JSON.stringify(scopes)).toBe(true);
      expect(seesAll && (role === 'member' || role === 'agent-runner')).toBe(false);
      expect(left.admin === true && role !== 'admin').toBe(false);
    }
  });

  it('go to the planes of its role, or to those of them that it names', () => {
    expect(rightsOfKey({ role: 'agent-runner' }).scopes.planes).toEqual(['gateway', 'run', 'agent']);
    expect(rightsOfKey({ role: 'agent-runner', planes: ['run'] }).scopes.planes).toEqual(['run']);
    expect(rightsOfKey({ role: 'member', planes: ['run'] }).scopes.planes).toEqual([]);
    expect(rightsOfKey({ role: 'auditor' }).scopes.planes).toEqual([]);
    expect(rightsOfKey({}, 'auditor').scopes.planes).toEqual([]);
    expect(rightsOfKey({ engines: ['sim'] }, 'member').scopes).toEqual({ engines: ['sim'], planes: ['gateway', 'agent'] });
  });

  it('without any role are its scopes as they stand', () => {
    const scopes = { planes: ['run'], raw: true } as const;
    expect(rightsOfKey({ ...scopes, planes: [...scopes.planes] })).toMatchObject({ role: undefined, scopes });
  });
});

describe('maySee', () => {
  it.each<[string, Principal, boolean[]]>([
    ['local sees runs without a key', { kind: 'local' }, [true, false, false]],
    ['a key sees its own runs', keyOf({}), [false, true, false]],
    ['an admin key sees all', keyOf({ admin: true }), [true, true, true]],
    ['an auditor sees all', keyOf({ role: 'auditor' }), [true, true, true]],
    ['a member sees its own', keyOf({ role: 'member' }), [false, true, false]],
    ['the token sees all', { kind: 'token' }, [true, true, true]],
    ['anonymous sees nothing', { kind: 'anonymous' }, [false, false, false]],
  ])('%s', (_, principal, expected) => {
    expect([null, 'key_1', 'key_2'].map((id) => maySee(principal, id))).toEqual(expected);
  });

  it('shows a team what it may not steer', () => {
    const { key } = keyOf({}) as Extract<Principal, { kind: 'key' }>; // what keyOf makes
    const standing = { role: 'member', own: ['key_1', 'key_2'], seen: ['key_1', 'key_2', 'key_3'] } as const;
    const member: Principal = { kind: 'key', ...knownKey(key, {}, standing) };
    const ids = ['key_1', 'key_2', 'key_3', 'key_4', null];
    expect(ids.map((id) => maySee(member, id))).toEqual([true, true, true, false, false]);
    expect(ids.map((id) => maySteer(member, id))).toEqual([true, true, false, false, false]);
  });
});

it('every permission says what it is for', () => {
  for (const row of Object.values(PERMISSIONS)) expect(row.means).toMatch(/^[A-Z].*\.$/);
});

it('a browser that was paired for one user answers what its keys ask, and what nobody else asks', () => {
  const paired = { kind: 'paired', session: 's', user: { id: 'ann', keys: ['k1', 'k2'] } } as const;
  expect([maySteer(paired, 'k2'), maySteer(paired, 'k3'), maySteer(paired, null), seesAll(paired)]).toEqual([true, false, false, false]);
  expect(seenOnly(paired, {})).toEqual({ keys: ['k1', 'k2'] });
  expect(isVisible('k1', visibleTo(paired))).toBe(true);
  expect([isVisible('k3', visibleTo(paired)), isVisible(null, visibleTo(paired))]).toEqual([false, false]);
  const keyless = { ...paired, user: { id: 'bob', keys: [] } };
  expect([maySee(keyless, null), seenOnly(keyless, {})]).toEqual([false, { keys: ['none'] }]);
});
