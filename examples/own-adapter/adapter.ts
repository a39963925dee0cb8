import { fileURLToPath } from 'node:url';
import type { Adapter, AgentCapabilities, Dialogue, EventDraft, Outcome } from '../../src/node/client.ts';

const PROGRAM = fileURLToPath(new URL('./greeter.js', import.meta.url));

const capabilities: AgentCapabilities = {
  agent: 'greeter',
  canResume: false,
  canFork: false,
  supportsMultiTurn: false,
  sessionPersistence: 'none',
  supportsTextStreaming: false,
  supportsToolCallStreaming: false,
  supportsThinkingStreaming: false,
  supportsNativeTools: false,
  supportsMCP: false,
  supportsParallelToolCalls: false,
  requiresToolApproval: false,
  approvalModes: ['yolo'],
  supportsThinking: true,
  thinkingEffortLevels: ['low', 'medium', 'high', 'max'],
  supportsThinkingBudgetTokens: true,
  supportsJsonMode: false,
  supportsStructuredOutput: false,
  supportsSkills: false,
  supportsAgentsMd: false,
  skillsFormat: null,
  supportsSubagentDispatch: false,
  supportsParallelExecution: false,
  supportsInteractiveMode: false,
  supportsStdinInjection: false,
  supportsImageInput: false,
  supportsImageOutput: false,
  supportsFileAttachments: false,
  supportsPlugins: false,
  pluginFormats: [],
  pluginRegistries: [],
  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,
  authMethods: ['api-key'],
  authFiles: [],
  installMethods: [],
};

/** Reads the lines of the agent. It never throws: a line that it does not know is handed on as it is. */
function dialogue(): Dialogue {
  let outcome: Outcome = { ok: false, message: 'the greeter ended without an answer' };
  const events = (line: string): EventDraft[] => {
    const said = parsed(line);
    switch (said?.type) {
      case 'begin':
        return [
          { type: 'session_start', sessionId: String(said.session), resumed: false },
          { type: 'turn_start', turnIndex: 0 },
        ];
      case 'said':
        outcome = { ok: true };
        return [{ type: 'message_start' }, { type: 'message_stop', text: String(said.text) }, { type: 'turn_end', turnIndex: 0 }];
      case 'failed':
        outcome = { ok: false, code: 'AGENT_CRASH', message: String(said.message) };
        return [];
      default:
        return line === '' ? [] : [{ type: 'log', source: 'stdout', line }];
    }
  };
  return { begin: () => [], line: (line) => ({ events: events(line) }), say: () => undefined, end: () => ({ events: [], outcome }) };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // not one of its lines
  }
}

/** How the greeter is driven and what it can do. */
export const greeter: Adapter = {
  agent: 'greeter',
  displayName: 'Greeter',
  cliCommand: 'node',
  capabilities,
  summary: {
    cli: 'node',
    session: 'none',
    stream: 'no',
    fork: 'no',
    thinking: 'yes',
    mcp: 'no',
    skills: 'no',
    plugins: 'no',
    acp: 'no',
    platforms: 'all',
  },
  notes: [],
  models: [],
  defaultModelId: 'claude-sonnet-4-5',
  modelsAsOf: '2026-11-16',
  modelsSource: 'none',
  detect: { versionArgs: ['--version'], version: (output) => /v(\d+\.\d+\.\d+)/.exec(output)?.[1], effective: () => ({}) },
  thinking: { kind: 'budget', parameter: 'budget_tokens' },
  auth: { envVars: ['GREETER_KEY'], guidance: ['Set GREETER_KEY.'], forwardsLogin: false },
  traffic: { dialect: 'claude', dialects: ['claude'], emulate: [], rows: [] },
  sessions: { kind: 'none', reason: 'the greeter remembers nothing' },
  spawn: ({ options, gateway, modelId }) => ({
    args: [PROGRAM, [options.prompt].flat().join('\n')],
    env: {
      GREETER_MODEL: modelId ?? 'claude-sonnet-4-5',
      ...(gateway !== undefined && { GREETER_URL: `${gateway.origin}/e/${gateway.engine}`, GREETER_KEY: gateway.key }),
    },
    files: {},
    stdin: 'closed',
    pty: false,
    thinking: { by: 'none', detail: 'the greeter has no setting of its own' },
    unhonoured: [],
  }),
  dialogue,
};
