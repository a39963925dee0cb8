import type { Catalogue, Profile } from '../../adapters/define.ts';

/** The part of an adapter that is known without starting the agent. */
export type AgentData = Profile & Catalogue;

/** Variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a short command to its end; rejects when it cannot be started. */
export type RunCommand = (
  command: string,
  args: readonly string[],
  options: { readonly env: Environment; readonly timeoutMs: number; readonly input?: string },
) => Promise<{ readonly code: number | null; readonly signal: string | null; readonly stdout: string; readonly stderr: string }>;

/** The last lines that a command wrote, for a message. */
export function lastWords({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }, lines = 5): string {
  const text = stderr.trim() === '' ? stdout : stderr;
  return text.trim().split('\n').slice(-lines).join('\n');
}
