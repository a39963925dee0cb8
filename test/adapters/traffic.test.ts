import { describe, expect, it } from 'vitest';
import type { AgentTrafficRow } from '../../src/adapters/adapter.ts';
import { adapters } from '../../src/adapters/index.ts';
import { isHarmless } from '../../src/contract/fate-codes.ts';
import type { Fate } from '../../src/contract/negotiation.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { requestsOf, SEARCHES } from '../support/agent-requests.ts';
import { type MappingTarget, mapTo, targetOf } from '../support/mapping.ts';

const KNOWN: readonly string[] = dialects.map(({ id }) => id);

/** An agent without a dialect speaks to a service of its own, and never through the gateway. */
const served = adapters.filter(({ traffic }) => traffic.dialects.length > 0);
type Served = (typeof served)[number];

/** Models that differ in what they take. */
const TARGETS: readonly MappingTarget[] = [
  targetOf('claude', 'claude-sonnet-4-5'),
  targetOf('claude', 'claude-opus-5-5'),
  targetOf('openai:openai-chat', 'gpt-5'),
  targetOf('openai:openai-chat', 'gpt-4.1'),
  targetOf('openai:openai-responses', 'gpt-5.2'),
  targetOf('openai:openai-responses', 'gpt-4.1'),
  targetOf('gemini', 'gemini-2.5-pro'),
  targetOf('gemini', 'gemini-3-pro'),
  targetOf('kimi', 'kimi-k2.5'),
  targetOf('kimi', 'kimi-k3'),
  targetOf('copilot', 'gpt-4.1'),
  ...KNOWN.map((id) => targetOf(`sim:${id}`, 'sim-1')),
];

/** What a run key of the agent makes of a request. */
function mapped({ traffic }: Served, from: string, body: Parameters<typeof mapTo>[2], target: MappingTarget): Mapping {
  const address = from === 'gemini' ? { model: 'gemini-2.5-pro', stream: true } : {};
  return mapTo(target, from, body, { emulate: traffic.emulate, traffic: traffic.rows, unknownLeaves: 'report', address });
}

interface Seen {
  readonly target: MappingTarget;
  readonly mapping: Mapping;
  readonly from: string;
}

function everywhere(adapter: Served): Seen[] {
  return adapter.traffic.dialects.flatMap((from) =>
    requestsOf(adapter.agent, from).flatMap((body) =>
      TARGETS.filter(({ dialect }) => dialect.id !== from).map((target) => ({
        target,
        from,
        mapping: mapped(adapter, from, body, target),
      })),
    ),
  );
}

function rowOf(rows: readonly AgentTrafficRow[], path: string): AgentTrafficRow | undefined {
  const shape = path.replaceAll(/\[\d+\]/g, '[*]');
  const above = rows.filter((row) => shape === row.path || shape.startsWith(`${row.path}.`) || shape.startsWith(`${row.path}[`));
  return above.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** How much of a field is lost. A new name is no loss. */
const LOSS: Readonly<Record<Fate, number>> = { exact: 0, renamed: 0, emulated: 1, dropped: 2, refused: 3 };

interface Loss {
  readonly row: AgentTrafficRow | undefined;
  readonly path: string;
  readonly dialect: string;
  readonly fate: Fate;
  readonly note: string;
  /** What the table says. */
  readonly told: Fate | undefined;
}

/** Every field of the requests that are served, beside its row. */
function lossesOf({ agent, traffic }: Served, seen: readonly Seen[]): Loss[] {
  const sent = seen.filter(({ mapping, target, from }) => mapping.error === undefined && target.dialect.id !== from);
  return sent.flatMap(({ target, mapping }) =>
    mapping.fidelity
      .filter(({ path, code }) => !path.startsWith('(') && !isHarmless(code))
      .map(({ path, fate, note = '' }) => {
        const row = rowOf(traffic.rows, path);
        const dialect = target.dialect.id;
        return { row, path: `${agent} ${path.replaceAll(/\[\d+\]/g, '[*]')}`, dialect, fate, note, told: row?.on?.[dialect] ?? row?.fate };
      }),
  );
}

/** The worst that happens to what a row stands for, by row and dialect. */
function worstOf(losses: readonly Loss[]): Loss[] {
  const worst = new Map<string, Loss>();
  for (const loss of losses) {
    const key = `${loss.row?.path} ${loss.dialect}`;
    const known = worst.get(key);
    if (loss.row !== undefined && (known === undefined || LOSS[loss.fate] > LOSS[known.fate])) worst.set(key, loss);
  }
  return [...worst.values()];
}

describe.each(served.map((adapter) => [adapter.agent, adapter] as const))('the traffic of %s', (agent, adapter) => {
  const { traffic } = adapter;

  it('is in dialects that the gateway serves, its own one first', () => {
    expect(traffic.dialects.filter((dialect) => !KNOWN.includes(dialect))).toEqual([]);
    expect(traffic.dialects[0]).toBe(traffic.dialect);
  });

  it('names each thing and each place once, with a reason', () => {
    expect(new Set(traffic.rows.map(({ feature }) => feature)).size).toBe(traffic.rows.length);
    expect(new Set(traffic.rows.map(({ path }) => path)).size).toBe(traffic.rows.length);
    expect(traffic.rows.filter(({ reason, path }) => reason === '' || path === '')).toEqual([]);
    expect(traffic.rows.flatMap(({ on = {} }) => Object.keys(on)).filter((dialect) => !KNOWN.includes(dialect))).toEqual([]);
  });

  it('is served on every engine of another dialect', () => {
    const errors = everywhere(adapter).flatMap(({ mapping, target, from }) =>
      mapping.error === undefined ? [] : [`${from} on ${target.name}: ${mapping.error.message}`],
    );
    expect(errors).toEqual([]);
  });

  it('loses on each dialect what its table says, no more and no less', () => {
    const search = SEARCHES[agent];
    const searched =
      search === undefined ? [] : TARGETS.map((target) => ({ target, from: agent, mapping: mapped(adapter, agent, search, target) }));
    const wrong = worstOf(lossesOf(adapter, [...everywhere(adapter), ...searched])).filter(
      ({ fate, told = 'exact' }) => LOSS[told] !== LOSS[fate],
    );
    expect(wrong.map(({ row, dialect, fate, told }) => `${row?.path} on ${dialect}: told ${told}, is ${fate}`)).toEqual([]);
  });

  it('explains every loss of a field', () => {
    const lost = lossesOf(adapter, everywhere(adapter)).filter(({ fate }) => LOSS[fate] > 0);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter(({ row }) => row === undefined).map(({ path, fate }) => `${path} ${fate}`)).toEqual([]);
    const silent = lost.filter(({ row, fate, told, note }) => fate === told && !note.includes(`${row?.feature}: ${row?.reason}`));
    expect(silent.map(({ path, fate }) => `${path} ${fate}`)).toEqual([]);
  });
});
