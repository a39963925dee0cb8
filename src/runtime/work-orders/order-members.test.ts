import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { WorkOrder, workOrder } from '../../contract/work-orders/work-order.ts';
import { assertMembers } from './backend-members.ts';
import { type OrderBackend, optionsOf } from './order-options.ts';
import { OwnOptions } from './vendor.ts';

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

it.each<[string, JsonObject, string]>([
  ['a namespace that is no object', { abp: 5 }, 'config.vendor.abp: must be an object'],
  ['two spellings that say different things', { abp: { sandbox: true }, 'abp.sandbox': false }, 'config.vendor["abp.sandbox"]'],
  ['two names of one member that differ', { abp: { dialect: 'claude', source_dialect: 'kimi' } }, 'config.vendor.abp.source_dialect'],
  ['the namespace of the agent, where it is no object', { claude: 'yolo' }, 'config.vendor.claude: must be an object'],
])('refuses %s', (_, vendor, words) => {
  const order = workOrder('t').workspace({ root }).config({ vendor }).build();
  expect(() => optionsOf(order, { id: 'adapter:claude', kind: 'adapter' }, root)).toThrow(words);
});

it('takes two spellings that say the same', () => {
  const order = workOrder('t')
    .workspace({ root })
    .config({ vendor: { abp: { sandbox: true }, 'abp.sandbox': true } })
    .build();
  expect(optionsOf(order, { id: 'engine:sim', kind: 'engine' }, root).options.sandbox).toBe(true);
});

it('takes the model of a request that is passed on for that of the order, so that rules about models are asked before there is a run', () => {
  const vendor = { abp: { mode: 'passthrough', dialect: 'openai-chat', request: { model: 'gpt-4o', messages: [] } } };
  const order = workOrder('t').workspace({ root }).config({ vendor }).build();
  expect(optionsOf(order, { id: 'engine:openai', kind: 'engine' }, root).options.model).toBe('gpt-4o');
});

/** A value for each member of `config.vendor.abp`, and the kinds of backends that refuse it by its name because they could only overlook it. */
const OWN: Readonly<Record<string, { readonly value: Json; readonly refusedBy: string; readonly beside?: JsonObject }>> = {
  mode: { value: 'passthrough', refusedBy: 'adapter', beside: { request: {} } },
  request: { value: {}, refusedBy: 'engine adapter host' },
  dialect: { value: 'claude', refusedBy: 'engine adapter host' },
  source_dialect: { value: 'claude', refusedBy: 'engine adapter host' },
  engine: { value: 'openai', refusedBy: 'engine' },
  compatibility: { value: 'strict', refusedBy: '' },
  enforcement: { value: 'advisory', refusedBy: '' },
  sandbox: { value: true, refusedBy: '' },
  limits: { value: { processes: 100 }, refusedBy: '' },
  timeout_seconds: { value: 5, refusedBy: '' },
  approval: { value: 'deny', refusedBy: '' },
  approval_timeout_seconds: { value: 5, refusedBy: '' },
  answerable: { value: false, refusedBy: '' },
  thinking: { value: 'low', refusedBy: '' },
  system: { value: 'be short', refusedBy: 'adapter host' },
  max_tokens: { value: 100, refusedBy: 'adapter host' },
  temperature: { value: 0.5, refusedBy: 'adapter host' },
  check: { value: 'true', refusedBy: '' },
  check_timeout_seconds: { value: 5, refusedBy: '' },
  tags: { value: ['a'], refusedBy: '' },
};

function refusal(order: WorkOrder, backend: OrderBackend): string {
  try {
    assertMembers(order, backend);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

it('knows every member of ours', () => {
  expect(Object.keys(OWN).toSorted()).toEqual(Object.keys(OwnOptions.shape).toSorted());
});

it.each(Object.entries(OWN))(
  'config.vendor.abp.%s does something, or is refused by its name',
  (member, { value, refusedBy, beside = {} }) => {
    const config = { vendor: { abp: { [member]: value, ...beside } } };
    const order = workOrder('a task').workspace({ root }).config(config).build();
    const plain = workOrder('a task').workspace({ root }).build();
    for (const backend of BACKENDS) {
      const message = refusal(order, backend);
      const isRefused = refusedBy.split(' ').includes(backend.kind);
      expect([backend.id, message.includes(member.replace('source_', ''))]).toEqual([backend.id, isRefused]);
      // What changes no option is read by the program that gets the order: a bare model, or a sidecar.
      const read = ['mode', 'system', 'max_tokens', 'temperature'].includes(member) || backend.kind === 'sidecar';
      if (!isRefused && !read && !(member === 'engine' && backend.kind === 'engine')) {
        expect([member, optionsOf(order, backend, root)]).not.toEqual([member, optionsOf(plain, backend, root)]);
      }
    }
  },
);

it.each([
  'context',
  'config.max_turns',
  'config.model',
  'config.vendor.abp.system',
  'config.vendor.abp.thinking',
  'config.vendor.abp.dialect',
])('%s is refused beside a request that passes as it is', (path) => {
  const passed = { mode: 'passthrough', request: { model: 'sim' } };
  const more: Readonly<Record<string, JsonObject>> = {
    'config.vendor.abp.system': { system: 'x' },
    'config.vendor.abp.thinking': { thinking: 'low' },
    'config.vendor.abp.dialect': { dialect: 'gemini' },
  };
  const order = workOrder('t')
    .workspace({ root })
    .context(path === 'context' ? { files: ['a.txt'] } : {})
    .config({
      vendor: { abp: { ...passed, ...more[path] } },
      ...(path === 'config.max_turns' && { max_turns: 2 }),
      ...(path === 'config.model' && { model: 'another' }),
    })
    .build();
  expect(refusal(order, { id: 'engine:sim', kind: 'engine' })).toContain(path);
});
