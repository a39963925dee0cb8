/** A coding agent that can be installed from npm, at the version that is known to install. */
export interface InstallableAgent {
  readonly agent: string;
  readonly packages: readonly string[];
  /** Some unpack themselves, or load a whole gateway, before their first word. */
  readonly patienceMs: number;
}

export const INSTALLABLE: readonly InstallableAgent[] = [
  { agent: 'claude', packages: ['@anthropic-ai/claude-code@2.1.325'], patienceMs: 60_000 },
  { agent: 'codex', packages: ['@openai/codex@0.166.0'], patienceMs: 60_000 },
  { agent: 'gemini', packages: ['@google/gemini-cli@0.61.0'], patienceMs: 90_000 },
  { agent: 'copilot', packages: ['@github/copilot@1.0.102'], patienceMs: 60_000 },
  { agent: 'opencode', packages: ['opencode-ai@1.18.33'], patienceMs: 90_000 },
  { agent: 'pi', packages: ['@earendil-works/pi-coding-agent@0.87.1'], patienceMs: 60_000 },
  { agent: 'omp', packages: ['@oh-my-pi/pi-coding-agent@18.2.3', 'bun@1.4.4'], patienceMs: 60_000 },
  { agent: 'openclaw', packages: ['openclaw@2026.9.6'], patienceMs: 180_000 },
];

/** Agents that npm does not have, and how they are tested instead. */
export const OTHERS: Readonly<Record<string, string>> = {
  cursor: 'not on npm; its adapter is tested against a fake CLI',
  hermes: 'from PyPI; its adapter is tested against a fake CLI',
};
