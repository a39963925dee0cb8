import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { WorkOrder, workOrder } from '../../contract/work-orders/work-order.ts';
import { type OrderBackend, optionsOf } from './order-options.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'abp-members-'));
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'a.txt'), 'a\n');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Every member of the contract's work order, by its path; maps and lists are one member. */
function membersOf(schema: JsonObject, at = ''): string[] {
  const { properties } = schema;
  if (!isJsonObject(properties)) return [at];
  return Object.entries(properties).flatMap(([name, inner]) =>
    isJsonObject(inner) ? membersOf(inner, at === '' ? name : `${at}.${name}`) : [],
  );
}

const MEMBERS = membersOf(z.toJSONSchema(WorkOrder) as JsonObject); // a JSON Schema is JSON

/** Another value for each member. A member without one fails here: it must work, or be refused by its name. */
const OTHER: Readonly<Record<string, () => Json>> = {
  task: () => 'another task',
  lane: () => 'workspace_first',
  'workspace.root': () => join(root, 'other'),
  'workspace.mode': () => 'pass_through',
  'workspace.include': () => ['*.ts'],
  'workspace.exclude': () => ['*.md'],
  'context.files': () => ['a.txt'],
  'context.snippets': () => [{ name: 'note', content: 'remember' }],
  'policy.allowed_tools': () => ['Read'],
  'policy.disallowed_tools': () => ['Bash'],
  'policy.deny_read': () => ['**/.env'],
  'policy.deny_write': () => ['*.lock'],
  'policy.allow_network': () => ['example.org'],
  'policy.deny_network': () => ['example.com'],
  'policy.require_approval_for': () => ['Write'],
  'config.model': () => 'another-model',
  'config.env': () => ({ LANG: 'C' }),
  'config.max_budget_usd': () => 2,
  'config.max_turns': () => 3,
  'config.vendor': () => ({ abp: { timeout_seconds: 5 } }),
};

/** Members that become no option of a run, and who sees to them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  id: 'the receipt names it',
  'requirements.required': 'negotiated with the backend before anything starts',
};

const BACKENDS: readonly OrderBackend[] = [
  { id: 'engine:sim', kind: 'engine' },
  { id: 'adapter:claude', kind: 'adapter' },
  { id: 'host:codex', kind: 'host' },
  { id: 'sidecar:mine', kind: 'sidecar' },
];

function withMember(order: WorkOrder, path: string, value: Json): WorkOrder {
  const [first = '', second] = path.split('.');
  const whole = order as unknown as Record<string, JsonObject>; // a work order is JSON by its schema
  return { ...order, [first]: second === undefined ? value : { ...whole[first], [second]: value } };
}

it('knows every member of the contract', () => {
  expect(MEMBERS.toSorted()).toEqual([...Object.keys(OTHER), ...Object.keys(ELSEWHERE)].toSorted());
});

describe.each(BACKENDS)('on $id', (backend) => {
  it.each(Object.keys(OTHER))('%s changes the run, or is refused by its name', (path) => {
    const order = workOrder('a task').lane('workspace_first').workspace({ root }).build();
    // A lane decides where the work happens beside pass_through; in a copy both lanes are the same.
    const inPlace = { ...order, lane: 'patch_first', workspace: { ...order.workspace, mode: 'pass_through' } } as const;
    const plain = path === 'lane' ? inPlace : order;
    const before = optionsOf(plain, backend, root);
    try {
      const after = optionsOf(withMember(plain, path, OTHER[path]?.() ?? null), backend, root);
      expect(after).not.toEqual(before);
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      expect(error.message).toContain(path);
    }
  });

  it('refuses what only a copy can do, by its name', () => {
    const order = workOrder('t')
      .lane('workspace_first')
      .workspace({ root, mode: 'pass_through', include: ['*.ts'] })
      .build();
    expect(() => optionsOf(order, backend, root)).toThrow('workspace.include');
  });

  it('refuses a member of ours that it does not know, by its name', () => {
    const order = workOrder('t')
      .workspace({ root })
      .config({ vendor: { 'abp.turbo': true } })
      .build();
    expect(() => optionsOf(order, backend, root)).toThrow('turbo');
  });
});
