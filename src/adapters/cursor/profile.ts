import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'cursor',

  canResume: false,
  canFork: false,
  supportsMultiTurn: true,
  sessionPersistence: 'sqlite',

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

  supportsJsonMode: false,
  supportsStructuredOutput: false,

  supportsSkills: false,
  supportsAgentsMd: false,
  skillsFormat: null,

  supportsSubagentDispatch: false,
  supportsParallelExecution: false,

  supportsInteractiveMode: true,
  supportsStdinInjection: false,

  supportsImageInput: true,
  supportsImageOutput: false,
  supportsFileAttachments: true,

  supportsPlugins: true,
  pluginFormats: ['extension-ts', 'mcp-server'],
  pluginMarketplaceUrl: 'https://cursor.sh/extensions',
  pluginRegistries: [{ name: 'cursor.sh/extensions', url: 'https://cursor.sh/extensions', searchable: false }],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: true,

  authMethods: ['oauth'],
  authFiles: ['~/.cursor/auth.json'],

  installMethods: [
    { platform: 'darwin', type: 'manual', command: 'open https://cursor.sh/download', notes: 'macOS .dmg installer' },
    { platform: 'linux', type: 'manual', command: 'open https://cursor.sh/download', notes: 'AppImage' },
    {
      platform: 'win32',
      type: 'winget',
      command: 'winget install Cursor.Cursor',
      notes: 'No headless-only install. Full app required even for CLI use.',
    },
  ],
};

export const profile: Profile = {
  agent: 'cursor',
  displayName: 'Cursor',
  cliCommand: 'cursor-agent',
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'cursor',
    session: 'SQLite',
    stream: 'partial',
    fork: 'no',
    thinking: 'model-dep',
    mcp: 'yes',
    skills: 'no',
    plugins: 'yes',
    acp: 'no',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    {
      date: '2026-11-15',
      version: 'documentation',
      note: 'not measured: cursor-agent is a headless command of its own, needs no terminal with -p, resumes with --resume and takes CURSOR_API_KEY',
    },
  ],
  today: {
    date: '2026-11-15',
    platform: 'all',
    type: 'curl',
    command: 'curl https://cursor.com/install -fsS | bash',
    notes: 'Installs the headless command cursor-agent; on Windows inside WSL.',
    prerequisiteCheck: 'curl --version',
  },
  detect: detectRule({
    pattern: /^(\d{4}\.\d{1,2}\.\d{1,2}\S*)\s*$/m,
    measured: [
      { since: '2025.9.0', differs: { canResume: true, requiresPty: false, supportsJsonMode: true, authMethods: ['oauth', 'api-key'] } },
    ],
  }),
  attachments: { image: 'content', text: 'prompt' },
  auth: {
    envVars: ['CURSOR_API_KEY'],
    files: ['.cursor/auth.json', '.config/cursor/auth.json'],
    loginCommand: 'cursor-agent login',
    guidance: ['Set CURSOR_API_KEY, or log in with cursor-agent login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'provider' },
};
