import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../src/platform/tools/tool.ts';

/** A folder that vanishes with the test. */
export function temporaryWorkspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-workspace-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls a tool as a turn does. */
export async function callTool(tool: Tool, input: JsonObject, context: Partial<ToolContext> = {}): Promise<ToolOutcome> {
  return await tool.execute(input, {
    callId: 'call_1',
    agentId: 'agent_1',
    sessionId: 'session_1',
    workspace: '',
    signal: AbortSignal.timeout(60_000),
    ...context,
  });
}
