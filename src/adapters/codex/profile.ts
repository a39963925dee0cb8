import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';
import { EFFORT_WORDS } from '../thinking.ts';

const capabilities: AgentCapabilities = {
  agent: 'codex',

  canResume: false,
  canFork: false,
  supportsMultiTurn: true,
  sessionPersistence: 'file',

  supportsTextStreaming: true,
  supportsToolCallStreaming: true,
  supportsThinkingStreaming: true,

  supportsNativeTools: true,
  supportsMCP: true,
  supportsParallelToolCalls: true,
  requiresToolApproval: true,
  approvalModes: ['yolo', 'prompt', 'deny'],

  supportsThinking: true,
  thinkingEffortLevels: ['low', 'medium', 'high'],
  supportsThinkingBudgetTokens: false,

  supportsJsonMode: true,
  supportsStructuredOutput: false,

  supportsSkills: false,
  supportsAgentsMd: false,
  skillsFormat: null,

  supportsSubagentDispatch: false,
  supportsParallelExecution: false,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: false,

  supportsPlugins: false,
  pluginFormats: [],
  pluginRegistries: [],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key'],
  authFiles: ['~/.codex/auth.json'],

  installMethods: [{ platform: 'all', type: 'npm', command: 'npm install -g @openai/codex' }],
};

export const profile: Profile = {
  agent: 'codex',
  displayName: 'Codex CLI',
  cliCommand: 'codex',
  messages: { when: 'steering', held: 'always' },
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'codex',
    session: 'JSONL',
    stream: 'yes',
    fork: 'no',
    thinking: 'yes',
    mcp: 'yes',
    skills: 'no',
    plugins: 'no',
    acp: 'no',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    {
      date: '2026-11-15',
      version: '0.166.0',
      note: 'codex exec resume and codex exec fork work; plugins, AGENTS.md and output schemas exist',
    },
    {
      date: '2026-11-15',
      version: '0.166.0',
      note: '--reasoning does not exist; the effort goes by -c model_reasoning_effort, which takes max as it is',
    },
    { date: '2026-11-15', version: '0.166.0', note: 'OPENAI_BASE_URL is not read; a provider is named by -c model_providers' },
  ],
  detect: detectRule({
    pattern: /codex(?:-cli)? (\d+\.\d+\.\d+\S*)/,
    tested: { oldest: '0.166.0', newest: '0.169.0' },
    measured: [
      {
        since: '0.166.0',
        differs: {
          canResume: true,
          canFork: true,
          supportsStructuredOutput: true,
          supportsAgentsMd: true,
          supportsPlugins: true,
          pluginFormats: ['skill-directory', 'mcp-server'],
          pluginInstallCmd: 'codex plugin add',
          pluginListCmd: 'codex plugin list',
          pluginUninstallCmd: 'codex plugin remove',
          authMethods: ['api-key', 'oauth'],
        },
      },
    ],
  }),
  attachments: { image: 'content', addresses: ['image'] },
  auth: {
    envVars: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    files: ['.codex/auth.json'],
    loginCommand: 'codex login',
    guidance: ['Set OPENAI_API_KEY, or log in with codex login.'],
    forwardsLogin: true,
  },
  thinking: { kind: 'level', parameter: 'reasoning_effort', words: EFFORT_WORDS },
};
