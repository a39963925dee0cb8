import { describe, expect, it } from 'vitest';
import { checkHooks, hookTable } from '../../src/adapters/hooks.ts';
import { adapters } from '../../src/adapters/index.ts';
import { CapabilityError } from '../../src/contract/runs/run-error.ts';
import { planOf } from '../support/dialogue.ts';

const rows = adapters.map((adapter) => [adapter.agent, adapter] as const);

it('hooks of the prompt decide for every agent, those of tools where it waits, those of its stop where it takes messages', () => {
  expect(
    Object.fromEntries(
      rows.map(([agent, adapter]) => {
        const { preToolUse, postToolUse, sessionStart, sessionEnd, stop, userPromptSubmit } = hookTable(adapter);
        expect([sessionStart, sessionEnd, userPromptSubmit]).toEqual(['nonblocking', 'nonblocking', 'blocking']);
        return [agent, [preToolUse, postToolUse, stop]];
      }),
    ),
  ).toEqual({
    claude: ['blocking', 'nonblocking', 'blocking'],
    codex: ['blocking', 'nonblocking', 'blocking'],
    gemini: ['blocking', 'nonblocking', 'blocking'],
    copilot: ['blocking', 'nonblocking', 'blocking'],
    cursor: ['blocking', 'nonblocking', 'nonblocking'],
    opencode: ['blocking', 'nonblocking', 'blocking'],
    pi: ['blocking', 'nonblocking', 'blocking'],
    omp: ['blocking', 'nonblocking', 'blocking'],
    openclaw: ['unsupported', 'unsupported', 'nonblocking'],
    hermes: ['blocking', 'nonblocking', 'blocking'],
  });
});

it('agents wait for every tool, for what they ask about, or for nothing', () => {
  const ways = (agent: string, plan: object) => [
    planOf(agent, { approvalMode: 'yolo' }, plan),
    planOf(agent, { approvalMode: 'prompt' }, { ...plan, answerable: true }),
    planOf(agent, { approvalMode: 'deny' }, plan),
  ];
  const waits = (plan: object) =>
    Object.fromEntries(rows.flatMap(([agent, { waitsFor }]) => (waitsFor ? [[agent, ways(agent, plan).map((one) => waitsFor(one))]] : [])));
  const asked = ['nothing', 'what-it-asks', 'nothing'];
  const every = ['every-tool', 'every-tool', 'every-tool'];
  const others = { codex: asked, gemini: asked, copilot: asked, cursor: asked, opencode: asked, hermes: asked };
  expect(waits({})).toEqual({ claude: asked, pi: asked, omp: asked, ...others });
  expect(waits({ watched: true })).toEqual({ claude: every, pi: every, omp: every, ...others });
});

it('the profile says the most that an agent can be made to wait for', () => {
  const most = rows.map(([agent, { waitsFor }]) => {
    const plan = planOf(agent, { approvalMode: 'prompt' }, { answerable: true, watched: true });
    return [agent, waitsFor?.(plan) ?? 'nothing'];
  });
  expect(rows.map(([agent, { waits }]) => [agent, waits])).toEqual(most);
});

it('Gemini cannot ask in an earlier session', () => {
  const plan = planOf('gemini', { approvalMode: 'prompt', sessionId: 's' }, { answerable: true });
  expect(rows.find(([agent]) => agent === 'gemini')?.[1].waitsFor?.(plan)).toBe('nothing');
});

describe.each(rows)('%s', (agent, { waitsFor, dialogue, spawn }) => {
  it('has an open input where it waits for a hook', () => {
    const plan = planOf(agent, { approvalMode: 'yolo' }, { watched: true });
    if (waitsFor?.(plan) !== 'every-tool') expect(dialogue(plan).say({ kind: 'let', waitId: 'w' })).toBeUndefined();
    else expect(spawn(plan).stdin).toBe('open');
  });
});

it('a hook that would never be called is refused', () => {
  const openclaw = rows.find(([agent]) => agent === 'openclaw')?.[1];
  if (openclaw === undefined) throw new Error('no openclaw');
  expect(() => checkHooks(openclaw, { stop: () => undefined })).not.toThrow();
  expect(() => checkHooks(openclaw, { postToolUse: () => undefined })).toThrow(CapabilityError);
  expect(() => checkHooks(openclaw, { preToolUse: () => undefined })).toThrow(
    "Agent 'openclaw' does not tell what the hook preToolUse needs",
  );
});
