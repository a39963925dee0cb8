/** A coding agent that can be installed, at the version that is known to install. */
export interface InstallableAgent {
  readonly agent: string;
  /** `python`: from PyPI, into an environment of its own, where there is a Python. */
  readonly from: 'npm' | 'python';
  readonly packages: readonly string[];
  /** Dependencies that its command has inside, and that are left out. */
  readonly carries?: readonly string[];
  /** Some unpack themselves, or load a whole gateway, before their first word. */
  readonly patienceMs: number;
}

const PI_PARTS = ['agent-core', 'ai', 'codemode', 'mcp', 'tui'].map((part) => `@earendil-works/pi-${part}`);

export const INSTALLABLE: readonly InstallableAgent[] = [
  { agent: 'claude', from: 'npm', packages: ['@anthropic-ai/claude-code@2.1.328'], patienceMs: 60_000 },
  { agent: 'codex', from: 'npm', packages: ['@openai/codex@0.169.0'], patienceMs: 60_000 },
  { agent: 'gemini', from: 'npm', packages: ['@google/gemini-cli@0.61.0'], patienceMs: 90_000 },
  { agent: 'copilot', from: 'npm', packages: ['@github/copilot@1.0.102'], patienceMs: 60_000 },
  { agent: 'opencode', from: 'npm', packages: ['opencode-ai@1.18.33'], patienceMs: 90_000 },
  {
    agent: 'pi',
    from: 'npm',
    packages: ['@earendil-works/pi-coding-agent@1.5.2'],
    carries: [...PI_PARTS, 'lovely-mermaid'],
    patienceMs: 60_000,
  },
  { agent: 'omp', from: 'npm', packages: ['@oh-my-pi/pi-coding-agent@18.2.3', 'bun@1.4.4'], patienceMs: 60_000 },
  { agent: 'openclaw', from: 'npm', packages: ['openclaw@2026.9.6'], patienceMs: 180_000 },
  { agent: 'hermes', from: 'python', packages: ['hermes-agent[acp,mcp]==0.19.0'], patienceMs: 90_000 },
];

/** Agents that cannot be installed so, and how they are tested instead. */
export const OTHERS: Readonly<Record<string, string>> = {
  cursor: 'not on npm; its adapter is tested against a fake CLI',
};
