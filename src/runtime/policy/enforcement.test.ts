import { describe, expect, it } from 'vitest';
import type { Equipment, Obstacle } from '../../confinement/equipment.ts';
import { assertHeld, enforcementOf, type Means } from './enforcement.ts';
import { joinPolicies, NO_POLICY, type Policy } from './rules.ts';

const equipment = { bwrap: '/usr/bin/bwrap' } as Equipment; // only that there is one is looked at
const obstacle: Obstacle = { reason: 'bubblewrap (bwrap) is not installed', remedy: 'Install it.' };
const means: Means = {
  sandbox: equipment,
  workspace: '/srv/project',
  staged: true,
  toolsByName: true,
  wireObstacle: 'its model calls go past the gateway',
  external: false,
};

function judged(policy: Partial<Policy>, part: Partial<Means> = {}): string[] {
  const { rules, unheld } = enforcementOf({ ...NO_POLICY, ...policy }, { ...means, ...part });
  return [...rules.map(({ rule, by }) => `${rule} by ${by}`), ...unheld.map(({ rule, reason }) => `${rule} unheld: ${reason}`)];
}

describe('who holds a rule', () => {
  it.each<[string, Partial<Policy>, Partial<Means>, string]>([
    ['a path in a staged workspace', { deny_read: ['**/.env'] }, {}, 'deny_read: **/.env by os'],
    [
      'a path in the workspace itself',
      { deny_read: ['**/.env'] },
      { staged: false },
      'deny_read: **/.env unheld: a path inside the workspace can be held in a staged one only. Run with --staged.',
    ],
    [
      'the same by its whole name',
      { deny_write: ['/srv/project/a'] },
      { staged: false },
      'deny_write: /srv/project/a unheld: a path inside the workspace can be held in a staged one only. Run with --staged.',
    ],
    ['a path outside', { deny_read: ['/data/**'] }, { staged: false }, 'deny_read: /data/** by os'],
    [
      'programs of the system',
      { deny_read: ['/usr/share/**'] },
      {},
      'deny_read: /usr/share/** unheld: programs and libraries of the system are always shown',
    ],
    ['everything', { deny_read: ['/**'] }, {}, 'deny_read: /** unheld: programs and libraries of the system are always shown'],
    [
      'what no host can be compared with',
      { deny_network: ['https://a.org'] },
      { external: true },
      'deny_network: https://a.org unheld: "https://a.org" names no host: it is a name or an address, * for any characters, and a port if need be',
    ],
    [
      'a path of every project, this one among them',
      { deny_write: ['/srv/*/a'] },
      { staged: false },
      'deny_write: /srv/*/a unheld: a path inside the workspace can be held in a staged one only. Run with --staged.',
    ],
    ['the same in a staged copy', { deny_read: ['/srv/**/.env'] }, {}, 'deny_read: /srv/**/.env by os'],
    ['a setting of the system', { deny_read: ['/etc/passwd'] }, {}, 'deny_read: /etc/passwd by os'],
    [
      'a host without a sandbox',
      { allow_network: ['a.org'] },
      { sandbox: obstacle },
      'allow_network: a.org unheld: bubblewrap (bwrap) is not installed. Install it.',
    ],
    [
      'a host by the word of the operator',
      { deny_network: ['a.org'] },
      { sandbox: obstacle, external: true },
      'deny_network: a.org by external',
    ],
    ['a tool of an agent that can do without', { disallowed_tools: ['Bash'] }, {}, 'disallowed_tools: Bash by agent'],
    [
      'a tool of an agent whose calls pass the gateway',
      { disallowed_tools: ['B*'] },
      { toolsByName: false, wireObstacle: undefined },
      'disallowed_tools: B* by wire',
    ],
    [
      'a tool of an agent that cannot',
      { disallowed_tools: ['Bash'] },
      { toolsByName: false },
      'disallowed_tools: Bash unheld: the agent cannot be made to do without a tool, and its model calls go past the gateway',
    ],
    [
      'an approval of an agent that does not wait',
      { require_approval_for: ['Bash'] },
      {},
      'require_approval_for: Bash unheld: the agent cannot be made to wait before every tool',
    ],
    [
      'an approval before a tool of one that waits',
      { require_approval_for: ['Bash'] },
      { waitsForEvery: true },
      'require_approval_for: Bash by agent',
    ],
    [
      'a pattern of allowed tools',
      { allowed_tools: ['mcp__*'] },
      {},
      'allowed_tools: mcp__* unheld: the agent takes names of tools, no patterns, and its model calls go past the gateway',
    ],
  ])('%s', (_, policy, part, expected) => {
    expect(judged(policy, part)).toEqual([expected]);
  });

  it('hides a file of the system that may not be read', () => {
    expect(enforcementOf({ ...NO_POLICY, deny_read: ['/etc/passwd'] }, means).hidden).toEqual(['/etc/passwd']);
  });

  it('refuses what nothing holds, and labels what is accepted as advice', () => {
    const found = enforcementOf({ ...NO_POLICY, deny_network: ['a.org', 'b.org'] }, { ...means, sandbox: obstacle });
    expect(() => assertHeld(found, () => false)).toThrow(
      'The policy cannot be enforced here: deny_network: a.org (and 1 more): bubblewrap (bwrap) is not installed. Install it.',
    );
    expect(() => assertHeld(found, (rule) => rule === 'deny_network: a.org')).toThrow('deny_network: b.org:');
    expect(assertHeld(found, () => true).map(({ by }) => by)).toEqual(['advisory', 'advisory']);
  });
});

describe('two policies together', () => {
  it('deny what either denies and allow what both allow', () => {
    expect(
      joinPolicies({ deny_read: ['a'], allow_network: ['*.org'] }, { deny_read: ['b'], allow_network: ['x.org', 'x.com'] }),
    ).toMatchObject({ deny_read: ['a', 'b'], allow_network: ['x.org'] });
  });

  it('allow no more than the operator does: no other port, no address of the machine', () => {
    const joined = (theirs: string[], own: string[]): unknown =>
      joinPolicies({ allow_network: theirs }, { allow_network: own }).allow_network;
    expect(joined(['*'], ['A.org', 'a.org:8443', '127.0.0.1', '169.254.169.254:80'])).toEqual(['A.org']);
    expect(joined(['*.org:8443'], ['a.org', 'a.org:8443'])).toEqual(['a.org:8443']);
    expect(joinPolicies({ allowed_tools: ['read*'] }, { allowed_tools: ['Read', 'Bash'] }).allowed_tools).toEqual(['Read']);
  });

  it('are refused where nothing would be allowed, which would read as everything', () => {
    expect(() => joinPolicies({ allow_network: ['a.org'] }, { allow_network: ['b.org'] })).toThrow('allows nothing that the operator');
  });

  it('throw on a pattern that is not well formed', () => {
    expect(() => judged({ deny_read: ['[a'] })).toThrow('The policy is not valid: the pattern [a has a [ without its ].');
  });
});
