import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'opencode',

  canResume: true,
  canFork: true,
  supportsMultiTurn: true,
  sessionPersistence: 'sqlite',

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
  skillsFormat: 'file',

  supportsSubagentDispatch: true,
  supportsParallelExecution: true,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: true,

  supportsPlugins: true,
  pluginFormats: ['npm-package', 'skill-file', 'mcp-server'],
  pluginInstallCmd: 'opencode plugin',
  pluginMarketplaceUrl: 'https://www.npmjs.com/search?q=opencode-',
  pluginRegistries: [{ name: 'npm', url: 'https://www.npmjs.com/search?q=opencode-', searchable: true }],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key'],
  authFiles: ['~/.config/opencode/auth.json'],

  installMethods: [
    { platform: 'all', type: 'npm', command: 'npm install -g opencode' },
    { platform: 'darwin', type: 'brew', command: 'brew install opencode/tap/opencode' },
  ],
};

export const profile: Profile = {
  agent: 'opencode',
  displayName: 'OpenCode',
  cliCommand: 'opencode',
  messages: { when: 'between', held: 'asked' },
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'opencode',
    session: 'SQLite',
    stream: 'yes',
    fork: 'yes',
    thinking: 'model-dep',
    mcp: 'yes',
    skills: 'yes',
    plugins: 'yes',
    acp: 'yes',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    { date: '2026-11-15', version: '1.18.33', note: 'the npm package is opencode-ai' },
    { date: '2026-11-15', version: '1.18.33', note: 'opencode plugin installs; there is no command that lists or removes plugins' },
    { date: '2026-11-15', version: '1.18.33', note: 'its login is kept in .local/share/opencode/auth.json' },
  ],
  today: {
    date: '2026-11-15',
    platform: 'all',
    type: 'npm',
    command: 'npm install -g opencode-ai',
    notes: 'The package opencode does not exist.',
    prerequisiteCheck: 'npm --version',
  },
  detect: detectRule({ pattern: /^v?(\d+\.\d+\.\d+\S*)\s*$/m, tested: { oldest: '1.18.33', newest: '1.18.33' } }),
  attachments: { image: 'content', pdf: 'content', text: 'prompt' },
  auth: {
    envVars: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    files: ['.local/share/opencode/auth.json'],
    loginCommand: 'opencode auth login',
    guidance: ['Set the key of a provider, or log in with opencode auth login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'provider' },
};
