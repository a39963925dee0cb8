import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../src/base/json.ts';
import { textOf } from './files.ts';
import { cacheFolder } from './install.ts';
import type { ExtraFindings, Findings } from './report.ts';

/** What was found last, by agent. */
export interface Memory {
  readonly agents: Record<string, Findings>;
  readonly extras: Record<string, ExtraFindings>;
}

const FILE = 'findings.json';

export function recalled(): Memory {
  const parsed = parseJson(textOf(join(cacheFolder(), FILE)));
  // Only `remember` writes this file.
  return parsed.ok ? (parsed.value as unknown as Memory) : { agents: {}, extras: {} };
}

/** Keeps what was found. Scenarios that were left out keep their verdicts, unless the agent has another version now. */
export function remember(findings: readonly Findings[], extras: readonly ExtraFindings[]): Memory {
  const memory = recalled();
  for (const found of findings) {
    const before = memory.agents[found.agent];
    const kept = before?.version === found.version ? before.verdicts : {};
    memory.agents[found.agent] = { ...found, verdicts: { ...kept, ...found.verdicts } };
  }
  for (const found of extras) memory.extras[found.name] = found;
  mkdirSync(cacheFolder(), { recursive: true });
  writeFileSync(join(cacheFolder(), FILE), JSON.stringify(memory, null, 2));
  return memory;
}
