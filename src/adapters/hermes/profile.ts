import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'hermes',

  canResume: true,
  canFork: false,
  supportsMultiTurn: true,
  sessionPersistence: 'sqlite',

  supportsTextStreaming: true,
  supportsToolCallStreaming: true,
  supportsThinkingStreaming: false,

  supportsNativeTools: true,
  supportsMCP: true,
  supportsParallelToolCalls: true,
  requiresToolApproval: true,
  approvalModes: ['yolo', 'prompt', 'deny'],

  supportsThinking: false,
  thinkingEffortLevels: [],
  supportsThinkingBudgetTokens: false,

  supportsJsonMode: false,
  supportsStructuredOutput: false,

  supportsSkills: true,
  supportsAgentsMd: false,
  skillsFormat: 'directory',

  supportsSubagentDispatch: false,
  supportsParallelExecution: false,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: false,
  supportsImageOutput: false,
  supportsFileAttachments: false,

  supportsPlugins: true,
  pluginFormats: ['skill-file', 'skill-directory', 'mcp-server'],
  pluginInstallCmd: 'hermes skills install',
  pluginListCmd: 'hermes skills list',
  pluginUninstallCmd: 'hermes skills uninstall',
  pluginSearchCmd: 'hermes skills search',
  pluginMarketplaceUrl: 'https://agentskills.io',
  pluginRegistries: [{ name: 'agentskills-hub', url: 'https://agentskills.io', searchable: true }],

  supportedPlatforms: ['darwin', 'linux'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key', 'oauth'],
  authFiles: ['~/.hermes/.env', '~/.hermes/cli-config.yaml'],

  installMethods: [
    { platform: 'all', type: 'pip', command: 'pip install hermes-agent', notes: 'Requires Python >= 3.11' },
    {
      platform: 'all',
      type: 'curl',
      command: 'curl -fsSL https://raw.githubusercontent.com/NousResearch/hermes-agent/main/scripts/install.sh | bash',
      notes: 'Shell installer',
    },
    { platform: 'all', type: 'nix', command: 'nix run github:NousResearch/hermes-agent', notes: 'Nix flake available' },
  ],
};

export const profile: Profile = {
  agent: 'hermes',
  displayName: 'Hermes',
  cliCommand: 'hermes',
  messages: { when: 'between', held: 'always' },
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'hermes',
    session: 'SQLite',
    stream: 'yes',
    fork: 'no',
    thinking: 'no',
    mcp: 'yes',
    skills: 'yes',
    plugins: 'yes',
    acp: 'yes',
    platforms: 'darwin, linux (WSL2 on win32)',
  },
  notes: [
    { date: '2026-11-15', version: '0.19.0', note: 'on Windows it runs inside WSL2 only' },
    { date: '2026-11-15', version: '0.19.0', note: 'skills are installed by hermes skills, code plugins by hermes plugins' },
  ],
  // Debian and its like refuse pip in the Python of the system; an environment of its own works everywhere.
  today: {
    date: '2026-11-16',
    platform: 'all',
    type: 'pip',
    command:
      'python3 -m venv "$HOME/.local/share/hermes-agent" && "$HOME/.local/share/hermes-agent/bin/pip" install --quiet "hermes-agent[acp,mcp]==0.19.0" && ' +
      'mkdir -p "$HOME/.local/bin" && ln -sf "$HOME/.local/share/hermes-agent/bin/hermes" "$HOME/.local/bin/hermes"',
    notes:
      'Requires Python 3.11 or newer with venv (on Debian: apt install python3 python3-venv). The command lands in ~/.local/bin, which must be on the PATH.',
    prerequisiteCheck: 'python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"',
  },
  detect: detectRule({ pattern: /Hermes Agent v(\d+\.\d+\.\d+\S*)/, tested: { oldest: '0.19.0', newest: '0.19.0' } }),
  attachments: {},
  auth: {
    envVars: [
      'OPENROUTER_API_KEY',
      'NOUS_API_KEY',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GITHUB_TOKEN',
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
    ],
    files: ['.hermes/.env', '.hermes/auth.json'],
    loginCommand: 'hermes login',
    guidance: ['Set the key of a provider, or log in with hermes login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'none', reason: 'it has no mode for extended thinking' },
};
