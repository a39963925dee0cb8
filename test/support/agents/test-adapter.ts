import { fileURLToPath } from 'node:url';
import type {
  Adapter,
  Command,
  Dialogue,
  EventDraft,
  Heard,
  Outcome,
  SpawnPlan,
  SpawnSpec,
  Traffic,
  WaitingTool,
} from '../../../src/adapters/adapter.ts';
import { parseJsonObject } from '../../../src/base/json.ts';
import type { AgentCapabilities } from '../../../src/contract/runs/coding-agent.ts';

/** The fake agents of this folder. */
export type FakeAgent =
  | 'plain'
  | 'slow'
  | 'chatty'
  | 'silent'
  | 'crashing'
  | 'muttering'
  | 'stubborn'
  | 'half-lines'
  | 'liar'
  | 'asking'
  | 'turning'
  | 'model-caller'
  | 'saying'
  | 'talking'
  | 'using';

export const FAKE_CAPABILITIES: AgentCapabilities = {
  agent: 'claude',
  canResume: true,
  canFork: true,
  supportsMultiTurn: true,
  sessionPersistence: 'file',
  supportsTextStreaming: true,
  supportsToolCallStreaming: true,
  supportsThinkingStreaming: false,
  supportsNativeTools: true,
  supportsMCP: true,
  supportsParallelToolCalls: true,
  requiresToolApproval: true,
  approvalModes: ['yolo', 'prompt', 'deny'],
  supportsThinking: true,
  thinkingEffortLevels: ['low', 'medium', 'high', 'max'],
  supportsThinkingBudgetTokens: true,
  supportsJsonMode: true,
  supportsStructuredOutput: true,
  supportsSkills: true,
  supportsAgentsMd: true,
  skillsFormat: 'directory',
  supportsSubagentDispatch: true,
  supportsParallelExecution: true,
  supportsInteractiveMode: true,
  supportsStdinInjection: true,
  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: true,
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

export interface FakeOptions {
  readonly pty?: boolean;
  readonly spec?: Partial<SpawnSpec>;
  readonly forwardsLogin?: boolean;
  /** Instead of one that can always be steered; null for an agent that does not listen. */
  readonly messages?: Adapter['messages'] | null;
  /** Instead of a table without rows. */
  readonly traffic?: Traffic;
  /** Where `model-caller` sends its request. */
  readonly path?: string;
  /** Before which tools it waits, by the approval mode that it is started with; absent: it never does. */
  readonly waitsFor?: Adapter['waitsFor'];
  readonly takesInput?: true;
  readonly untold?: Adapter['untold'];
  /** Sees every plan that it is asked about. */
  readonly onPlan?: (plan: SpawnPlan) => void;
}

/** An adapter for a fake agent; it speaks claude's dialect. */
export function fakeAdapter(fake: FakeAgent, options: FakeOptions = {}): Adapter {
  return {
    agent: 'claude',
    displayName: 'Fake',
    cliCommand: process.execPath,
    ...(options.messages !== null && { messages: options.messages ?? { when: 'steering', held: 'always' } }),
    ...(options.waitsFor !== undefined && { waitsFor: options.waitsFor }),
    ...(options.takesInput === true && { takesInput: true }),
    ...(options.untold !== undefined && { untold: options.untold }),
    capabilities: FAKE_CAPABILITIES,
    summary: { cli: '', session: '', stream: '', fork: '', thinking: '', mcp: '', skills: '', plugins: '', acp: '', platforms: '' },
    notes: [],
    models: [],
    defaultModelId: null,
    modelsAsOf: '2026-01-01',
    modelsSource: 'none',
    detect: { versionArgs: ['--version'], version: (output) => output.trim(), effective: () => ({}) },
    auth: { envVars: ['FAKE_API_KEY'], guidance: [], forwardsLogin: options.forwardsLogin ?? false },
    traffic: options.traffic ?? { dialect: 'claude', dialects: ['claude'], emulate: ['extended_thinking'], rows: [] },
    sessions: { kind: 'none', reason: 'fake' },
    spawn: (plan) => {
      options.onPlan?.(plan);
      return { ...spawnFake(fake, plan, options), ...options.spec };
    },
    dialogue: () => fakeDialogue(),
  };
}

function spawnFake(fake: FakeAgent, plan: SpawnPlan, { pty = false, path = '/v1/messages' }: FakeOptions): SpawnSpec {
  const { gateway } = plan;
  return {
    args: [fileURLToPath(new URL(`./${fake}.ts`, import.meta.url)), [plan.options.prompt].flat().join('\n')],
    env:
      gateway === undefined
        ? {}
        : { FAKE_URL: `${gateway.origin}/e/${gateway.engine}${path}`, FAKE_KEY: gateway.ownLogin ? '' : gateway.key },
    files: { 'settings.json': '{}' },
    stdin: plan.answerable || fake === 'asking' || fake === 'talking' || fake === 'using' ? 'open' : 'closed',
    pty,
    thinking: { by: 'flag', detail: 'fake' },
    unhonoured: [],
  };
}

function fakeDialogue(): Dialogue {
  let outcome: Outcome | undefined;
  const line = (text: string): Heard => {
    const parsed = parseJsonObject(text);
    if (parsed === undefined) return { events: text === '' ? [] : [{ type: 'log', source: 'stdout', line: text }] };
    if (parsed.type === 'done') return { events: [], done: true };
    if (parsed.type === 'waiting') return { events: [], waiting: [parsed as unknown as WaitingTool] }; // likewise
    if (parsed.type !== 'outcome') return { events: [parsed as unknown as EventDraft] }; // the fakes print drafts
    outcome = parsed as unknown as Outcome; // likewise
    return { events: [] };
  };
  const say = (command: Command): string[] => {
    if (command.kind === 'message' || command.kind === 'steer') return [`${command.kind} ${command.text}`];
    if (command.kind === 'interrupt') return ['interrupt'];
    const input = 'input' in command ? ` ${JSON.stringify(command.input)}` : '';
    if ('waitId' in command) return [`${command.kind} ${command.waitId}${command.kind === 'stop' ? ` ${command.reason}` : input}`];
    return [`${command.kind} ${command.interactionId}${input}`];
  };
  return { begin: () => [], line, say, end: () => ({ events: [], outcome: outcome ?? { ok: false } }) };
}
