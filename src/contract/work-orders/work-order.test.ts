import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForeignWorkOrder, WorkOrder, workOrder } from './work-order.ts';

describe('the builder', () => {
  it('fills in everything that is not said', () => {
    const order = workOrder('task')
      .requirements({ required: [{ capability: 'streaming', min_support: 'native' }] })
      .build();
    expect(order).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      task: 'task',
      lane: 'patch_first',
      workspace: { root: '.', mode: 'staged', include: [], exclude: [] },
      context: { files: [], snippets: [] },
      policy: {
        allowed_tools: [],
        disallowed_tools: [],
        deny_read: [],
        deny_write: [],
        allow_network: [],
        deny_network: [],
        require_approval_for: [],
      },
      requirements: { required: [{ capability: 'streaming', min_support: 'native' }] },
      config: { model: null, vendor: {}, env: {}, max_budget_usd: null, max_turns: null },
    });
  });

  it('keeps the rest of a section when a part of it is set', () => {
    const order = workOrder('t')
      .lane('workspace_first')
      .workspace({ root: '/srv' })
      .context({ files: ['a.ts'] })
      .policy({ deny_write: ['dist/**'] })
      .config({ model: 'm', max_turns: 3 })
      .build();
    expect(order.lane).toBe('workspace_first');
    expect(order.workspace).toEqual({ root: '/srv', mode: 'staged', include: [], exclude: [] });
    expect(order.context).toEqual({ files: ['a.ts'], snippets: [] });
    expect(order.policy.deny_write).toEqual(['dist/**']);
    expect(order.config).toEqual({ model: 'm', vendor: {}, env: {}, max_budget_usd: null, max_turns: 3 });
  });

  it('gives every order an id of its own and leaves earlier steps as they were', () => {
    const base = workOrder('t');
    const changed = base.lane('workspace_first');
    expect(base.build().id).not.toBe(base.build().id);
    expect(base.build().lane).toBe('patch_first');
    expect(changed.build().lane).toBe('workspace_first');
  });

  it('refuses an order that would not be accepted', () => {
    expect(() => workOrder(' ').build()).toThrow('work order is not valid: task: must not be blank');
    expect(() => workOrder('t').config({ max_turns: 0 }).build()).toThrow(/config\.max_turns: /);
  });

  it.each([
    ['workspace.root', workOrder('t').workspace({ root: 'a\0b' })],
    ['context.files[0]', workOrder('t').context({ files: ['a\0b'] })],
    ['policy.deny_read[0]', workOrder('t').policy({ deny_read: ['/a\0--bind\0/\0/'] })],
    ['config.env.A', workOrder('t').config({ env: { A: 'a\0b' } })],
  ])('refuses a NUL in %s, where the operating system would end the word', (path, order) => {
    expect(() => order.build()).toThrow(`work order is not valid: ${path}: must not contain a NUL`);
  });

  it.each(['', 'A=B', '='])('refuses a variable by the name "%s", which no process can have', (name) => {
    expect(() =>
      workOrder('t')
        .config({ env: { [name]: '1' } })
        .build(),
    ).toThrow(/^work order is not valid: config\.env.*: is no name of a variable$/);
  });
});

describe('a foreign work order', () => {
  it('may lack optional scalars, have unknown fields and ask for any level', () => {
    const order = workOrder('t').build();
    const { model, max_turns, ...config } = order.config;
    const foreign = ForeignWorkOrder.parse({
      ...order,
      priority: 1,
      config: { ...config, extra: true },
      requirements: { required: [{ capability: 'vision', min_support: 'any', note: 'x' }] },
    });
    expect(foreign).toEqual({ ...order, requirements: { required: [{ capability: 'vision', min_support: 'any' }] } });
  });

  it('accepts every order of ours as it is', () => {
    const texts = fc.array(fc.string());
    // Schemas of records leave out a member of that name; no environment has a variable called so.
    const variable = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__' && !name.includes('='));
    const order = fc.record({ root: fc.string(), files: texts, deny: texts, env: fc.dictionary(variable, fc.string()) });
    fc.assert(
      fc.property(order, ({ root, files, deny, env }) => {
        const built = workOrder('t').workspace({ root }).context({ files }).policy({ deny_read: deny }).config({ env }).build();
        expect(ForeignWorkOrder.parse(built)).toEqual(built);
        expect(WorkOrder.parse(built)).toEqual(built);
      }),
    );
  });
});
