import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findAdapter } from '../../src/adapters/index.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { INSTALLABLE, type InstallableAgent } from './catalogue.ts';
import { EXTRAS, triedExtra } from './extras.ts';
import { installed } from './install.ts';
import { remember } from './memory.ts';
import { type ExtraFindings, type Findings, reportOf } from './report.ts';
import type { Verdict } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { Stage } from './stage.ts';

/**
 * Tries the real agents: `npm run test:agents -- [agent…] [--only a,b] [--scenario name…]`. It installs what is missing into a cache outside of the
 * project, and writes `docs/coding-agents-tried.md` once everything has been tried there; a run of a part renews that part.
 */
const TODAY = new Date().toISOString().slice(0, 10);
const words = process.argv.slice(2).flatMap((word) => (word === '--only' ? [] : word.split(',')));
const flagAt = words.indexOf('--scenario');
const agents = flagAt === -1 ? words : words.slice(0, flagAt);
const scenarios = flagAt === -1 ? [] : words.slice(flagAt + 1);
const chosen = INSTALLABLE.filter(({ agent }) => agents.length === 0 || agents.includes(agent));

async function tried(row: InstallableAgent): Promise<Findings> {
  const adapter = findAdapter(row.agent);
  const name = adapter?.displayName ?? row.agent;
  if (adapter === undefined) return { agent: row.agent, name, version: '-', verdicts: {}, problem: 'it has no adapter' };
  try {
    const stage = await Stage.open(row.agent, await installed(row, adapter.cliCommand), row.patienceMs);
    try {
      // Asked for by somebody else than the stage: its first scenario meets the agent as a new installation does.
      const { version = '-', problem } = await createCodingAgents({ env: stage.env }).adapters.detect(row.agent);
      if (problem !== undefined) return { agent: row.agent, name, version, verdicts: {}, problem };
      // A run that is ended early keeps what it has found.
      const verdicts = await verdictsOf(stage, (found) => remember([{ agent: row.agent, name, version, verdicts: found }], []));
      return { agent: row.agent, name, version, verdicts };
    } finally {
      await stage.close();
    }
  } catch (error) {
    return { agent: row.agent, name, version: '-', verdicts: {}, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function verdictsOf(stage: Stage, onFound: (found: Record<string, Verdict>) => void): Promise<Record<string, Verdict>> {
  const verdicts: Record<string, Verdict> = {};
  for (const scenario of SCENARIOS) {
    if (scenarios.length > 0 && !scenarios.includes(scenario.name)) continue;
    const began = performance.now();
    const verdict = await scenario.play(stage).catch((error: unknown): Verdict => ({ mark: 'no', note: String(error) }));
    verdicts[scenario.name] = { ...verdict, date: TODAY };
    onFound(verdicts);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${stage.agent.padEnd(9)} ${scenario.name.padEnd(20)} ${verdict.mark.padEnd(4)} ${seconds.padStart(6)} s  ${verdict.note}`);
  }
  return verdicts;
}

async function triedExtras(): Promise<ExtraFindings[]> {
  const found: ExtraFindings[] = [];
  for (const extra of EXTRAS) {
    if (agents.length > 0 && !agents.includes(extra.agent)) continue;
    const { version, verdict } = await installed(extra, extra.agent)
      .then((path) => triedExtra(extra, path))
      .catch((error: unknown) => ({ version: '-', verdict: { mark: 'no' as const, note: String(error) } }));
    console.log(`${extra.agent.padEnd(9)} ${'write'.padEnd(20)} ${verdict.mark.padEnd(4)} ${verdict.note}`);
    found.push({ name: extra.name, version, told: extra.told, verdict });
  }
  return found;
}

const findings: Findings[] = [];
for (const row of chosen) {
  const found = await tried(row);
  if (found.problem !== undefined) console.log(`${row.agent.padEnd(9)} not run: ${found.problem}`);
  findings.push(found);
}
const extras = scenarios.length === 0 ? await triedExtras() : [];
const known = remember(findings, extras);
const allAgents = INSTALLABLE.flatMap(({ agent }) => known.agents[agent] ?? []);
const allExtras = EXTRAS.flatMap(({ name }) => known.extras[name] ?? []);
if (allAgents.length === INSTALLABLE.length && allExtras.length === EXTRAS.length) {
  writeFileSync(join(import.meta.dirname, '../../docs/coding-agents-tried.md'), reportOf(allAgents, allExtras, TODAY));
}
const verdicts = [...findings.flatMap((found) => Object.values(found.verdicts)), ...extras.map(({ verdict }) => verdict)];
const failed = verdicts.filter(({ mark }) => mark === 'no').length;
process.exitCode = failed > 0 ? 1 : 0;
