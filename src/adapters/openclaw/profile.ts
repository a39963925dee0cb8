import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'openclaw',

  canResume: false,
  canFork: false,
  supportsMultiTurn: true,
  sessionPersistence: 'file',

  supportsTextStreaming: true,
  supportsToolCallStreaming: false,
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
  supportsStructuredOutput: false,

  supportsSkills: true,
  supportsAgentsMd: true,
  skillsFormat: 'file',

  supportsSubagentDispatch: false,
  supportsParallelExecution: false,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: true,

  supportsPlugins: true,
  pluginFormats: ['npm-package', 'skill-file', 'channel-plugin'],
  pluginInstallCmd: 'openclaw plugins install',
  pluginListCmd: 'openclaw plugins list',
  pluginUninstallCmd: 'openclaw plugins uninstall',
  pluginSearchCmd: 'openclaw plugins search',
  pluginMarketplaceUrl: 'https://openclaw.ai/plugins',
  pluginRegistries: [
    { name: 'npm', url: 'https://www.npmjs.com', searchable: true },
    { name: 'openclaw-registry', url: 'https://openclaw.ai/plugins', searchable: true },
  ],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key'],
  authFiles: ['~/.openclaw/auth.json'],

  installMethods: [{ platform: 'all', type: 'npm', command: 'npm install -g openclaw', notes: 'Requires Node 22.16+, 16GB RAM minimum' }],
};

export const profile: Profile = {
  agent: 'openclaw',
  displayName: 'OpenClaw',
  cliCommand: 'openclaw',
  waits: 'nothing',
  // Tools are told as a sum, when the run is over.
  untold: ['preToolUse', 'postToolUse'],
  // Every thread of it reserves memory for WebAssembly; with less it crashes before its first word.
  reservesMb: 8192,
  capabilities,
  summary: {
    cli: 'openclaw',
    session: 'JSON',
    stream: 'partial',
    fork: 'no',
    thinking: 'model-dep',
    mcp: 'yes',
    skills: 'yes',
    plugins: 'yes',
    acp: 'no',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    { date: '2026-11-15', version: '2026.9.6', note: 'prints one JSON object at the end and streams nothing' },
    { date: '2026-11-15', version: '2026.9.6', note: '--thinking is not sent to a custom provider' },
    { date: '2026-11-15', version: '2026.9.6', note: 'sessions are in SQLite' },
  ],
  today: {
    date: '2026-11-15',
    platform: 'all',
    type: 'npm',
    command: 'npm install -g openclaw',
    notes: 'Requires Node 24.16 or newer; on an older one npm installs an empty placeholder.',
    prerequisiteCheck: `node -e "const [a,b]=process.versions.node.split('.').map(Number);process.exit(a>24||(a===24&&b>=16)?0:1)"`,
  },
  detect: detectRule({
    pattern: /(\d{4}\.\d+\.\d+\S*)/,
    tested: { oldest: '2026.9.6', newest: '2026.9.6' },
    measured: [{ since: '2026.9.6', differs: { supportsTextStreaming: false, supportsStdinInjection: false } }],
  }),
  attachments: { text: 'prompt' },
  auth: {
    envVars: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    files: ['.openclaw/auth.json'],
    loginCommand: 'openclaw onboard',
    guidance: ['Set the key of a provider, or run openclaw onboard.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'provider' },
};
