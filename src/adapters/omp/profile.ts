import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'omp',

  canResume: true,
  canFork: true,
  supportsMultiTurn: true,
  sessionPersistence: 'file',

  supportsTextStreaming: true,
  supportsToolCallStreaming: true,
  supportsThinkingStreaming: true,

  supportsNativeTools: true,
  supportsMCP: false,
  supportsParallelToolCalls: true,
  requiresToolApproval: true,
  approvalModes: ['yolo', 'prompt', 'deny'],

  supportsThinking: true,
  thinkingEffortLevels: ['low', 'medium', 'high', 'max'],
  supportsThinkingBudgetTokens: true,

  supportsJsonMode: false,
  supportsStructuredOutput: false,

  supportsSkills: true,
  supportsAgentsMd: false,
  skillsFormat: 'file',

  supportsSubagentDispatch: true,
  supportsParallelExecution: true,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: false,

  supportsPlugins: true,
  pluginFormats: ['npm-package', 'skill-file'],
  pluginInstallCmd: 'omp plugin install',
  pluginListCmd: 'omp plugin list',
  pluginUninstallCmd: 'omp plugin uninstall',
  pluginMarketplaceUrl: 'https://www.npmjs.com/search?q=%40oh-my-pi%2F',
  pluginRegistries: [{ name: 'npm', url: 'https://www.npmjs.com/search?q=%40oh-my-pi%2F', searchable: true }],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key'],
  authFiles: ['~/.omp/agent/auth.json'],

  installMethods: [{ platform: 'all', type: 'npm', command: 'npm install -g @oh-my-pi/pi-coding-agent' }],
};

export const profile: Profile = {
  agent: 'omp',
  displayName: 'omp (oh-my-pi)',
  cliCommand: 'omp',
  messages: { when: 'steering', held: 'asked' },
  waits: 'every-tool',
  capabilities,
  summary: {
    cli: 'omp',
    session: 'JSONL tree',
    stream: 'yes',
    fork: 'yes',
    thinking: 'yes',
    mcp: 'no',
    skills: 'yes',
    plugins: 'yes',
    acp: 'yes',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    { date: '2026-11-15', version: '18.2.3', note: 'needs bun on the PATH' },
    { date: '2026-11-15', version: '18.2.3', note: '--thinking takes off to max' },
    { date: '2026-11-20', version: '18.3.4', note: 'with the native library of 18.2.11 in the place of its own it behaves as 18.2.3 does' },
  ],
  today: {
    date: '2026-11-20',
    platform: 'all',
    type: 'npm',
    command: 'npm install -g bun @oh-my-pi/pi-coding-agent || npm install -g bun @oh-my-pi/pi-coding-agent@18.2.3',
    notes: 'Runs on bun, which is installed with it. Where the registry lacks a dependency of the newest version, it is 18.2.3.',
    prerequisiteCheck: 'npm --version',
  },
  detect: detectRule({
    pattern: /^omp[/ ]v?(\d+\.\d+\.\d+\S*)/m,
    tested: { oldest: '18.2.3', newest: '18.2.3' },
    measured: [{ since: '18.2.3', differs: { supportsAgentsMd: true } }],
  }),
  attachments: { image: 'content' },
  auth: {
    envVars: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    files: ['.omp/agent/auth.json'],
    guidance: ['Set the key of a provider, or start omp and use /login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'budget', parameter: 'budget_tokens' },
};
