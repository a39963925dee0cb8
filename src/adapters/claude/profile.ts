import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'claude',

  canResume: true,
  canFork: true,
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

  supportsPlugins: true,
  pluginFormats: ['skill-directory', 'mcp-server'],
  pluginInstallCmd: 'claude plugin install',
  pluginListCmd: 'claude plugin list',
  pluginUninstallCmd: 'claude plugin uninstall',
  pluginRegistries: [],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key', 'oauth'],
  authFiles: ['~/.claude/.credentials'],

  installMethods: [
    { platform: 'all', type: 'npm', command: 'npm install -g @anthropic-ai/claude-code' },
    { platform: 'darwin', type: 'brew', command: 'brew install claude-code' },
  ],
};

export const profile: Profile = {
  agent: 'claude',
  displayName: 'Claude Code',
  cliCommand: 'claude',
  messages: { when: 'steering', held: 'always' },
  takesInput: true,
  takesToolRules: true,
  waits: 'every-tool',
  capabilities,
  summary: {
    cli: 'claude',
    session: 'JSONL',
    stream: 'yes',
    fork: 'yes',
    thinking: 'yes',
    mcp: 'yes',
    skills: 'yes',
    plugins: 'partial',
    acp: 'no',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    {
      date: '2026-11-15',
      version: '2.1.325',
      note: '--thinking-budget does not exist; --effort takes low to max, and MAX_THINKING_TOKENS reaches models that take a budget',
    },
    { date: '2026-11-15', version: '2.1.325', note: 'opus, fable, sonnet and haiku are the aliases of its own list' },
    { date: '2026-11-15', version: '2.1.325', note: 'its login is kept in .claude/.credentials.json, or in the keychain on macOS' },
  ],
  detect: detectRule({ pattern: /(?<!\S)(\d+\.\d+\.\d+\S*) \(Claude Code\)/, tested: { oldest: '2.1.197', newest: '2.1.328' } }),
  attachments: { image: 'content', pdf: 'content', text: 'content', addresses: ['image', 'pdf'] },
  auth: {
    envVars: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
    loginCommand: 'claude auth login',
    guidance: ['Set ANTHROPIC_API_KEY, or log in with claude auth login.'],
    forwardsLogin: true,
  },
  thinking: { kind: 'budget', parameter: 'budget_tokens' },
};
