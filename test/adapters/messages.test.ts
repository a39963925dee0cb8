import { describe, expect, it } from 'vitest';
import { adapters } from '../../src/adapters/index.ts';
import { planOf } from '../support/dialogue.ts';

const rows = adapters.map((adapter) => [adapter.agent, adapter] as const);

it('agents take messages while they run in these ways', () => {
  expect(
    Object.fromEntries(rows.map(([agent, { messages }]) => [agent, messages === undefined ? null : `${messages.when} ${messages.held}`])),
  ).toEqual({
    claude: 'steering always',
    codex: 'steering always',
    gemini: 'between asked',
    copilot: 'between asked',
    cursor: null,
    opencode: 'between asked',
    pi: 'steering asked',
    omp: 'steering asked',
    openclaw: null,
    hermes: 'between always',
  });
});

describe.each(rows)('%s', (agent, { messages, spawn, dialogue }) => {
  const plain = planOf(agent, { approvalMode: 'yolo' });
  const held = planOf(agent, { approvalMode: 'yolo', nonInteractive: false });

  it('has an open input where it takes messages, and a closed one where it does not', () => {
    expect(spawn(held).stdin).toBe(messages === undefined ? 'closed' : 'open');
    expect(spawn(plain).stdin).toBe(messages?.held === 'always' ? 'open' : 'closed');
  });

  it('is steered only if its rule says so', () => {
    // Codex is steered by the turn that it has begun.
    if (agent === 'codex') return;
    expect(dialogue(held).say({ kind: 'steer', text: 'left' }) !== undefined).toBe(messages?.when === 'steering');
  });
});
