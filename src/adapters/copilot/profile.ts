import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';
import { EFFORT_WORDS } from '../thinking.ts';

const capabilities: AgentCapabilities = {
  agent: 'copilot',

  canResume: false,
  canFork: false,
  supportsMultiTurn: true,
  sessionPersistence: 'file',

  supportsTextStreaming: true,
  supportsToolCallStreaming: false,
  supportsThinkingStreaming: false,

  supportsNativeTools: false,
  supportsMCP: false,
  supportsParallelToolCalls: false,
  requiresToolApproval: false,
  approvalModes: ['prompt'],

  supportsThinking: false,
  thinkingEffortLevels: [],
  supportsThinkingBudgetTokens: false,

  supportsJsonMode: false,
  supportsStructuredOutput: false,

  supportsSkills: false,
  supportsAgentsMd: false,
  skillsFormat: null,

  supportsSubagentDispatch: false,
  supportsParallelExecution: false,

  supportsInteractiveMode: true,
  supportsStdinInjection: true,

  supportsImageInput: false,
  supportsImageOutput: false,
  supportsFileAttachments: false,

  supportsPlugins: false,
  pluginFormats: [],
  pluginRegistries: [],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['oauth', 'github-token'],
  authFiles: ['~/.config/github-copilot/hosts.json'],

  installMethods: [
    {
      platform: 'all',
      type: 'gh-extension',
      command: 'gh extension install github/gh-copilot',
      notes: 'Requires GitHub CLI (gh). Install with: `brew install gh` / `winget install GitHub.cli`',
      prerequisiteCheck: 'gh --version',
    },
  ],
};

export const profile: Profile = {
  agent: 'copilot',
  displayName: 'Copilot CLI',
  cliCommand: 'copilot',
  messages: { when: 'between', held: 'asked' },
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'copilot',
    session: 'JSON',
    stream: 'yes',
    fork: 'no',
    thinking: 'no',
    mcp: 'no',
    skills: 'no',
    plugins: 'no',
    acp: 'no',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    {
      date: '2026-11-15',
      version: '1.0.102',
      note: 'the agent is the npm package @github/copilot; the gh extension only suggests commands',
    },
    { date: '2026-11-15', version: '1.0.102', note: 'resume, MCP, tools with approval, attachments, plugins and --reasoning-effort exist' },
  ],
  today: {
    date: '2026-11-15',
    platform: 'all',
    type: 'npm',
    command: 'npm install -g @github/copilot',
    notes: 'The gh extension is an older product without an agent.',
    prerequisiteCheck: 'npm --version',
  },
  detect: detectRule({
    pattern: /GitHub Copilot CLI (\d+\.\d+\.\d+(?:-[\w.]+)?)/,
    tested: { oldest: '1.0.102', newest: '1.0.102' },
    measured: [
      {
        since: '1.0.102',
        differs: {
          canResume: true,
          supportsToolCallStreaming: true,
          supportsThinkingStreaming: true,
          supportsNativeTools: true,
          supportsMCP: true,
          supportsParallelToolCalls: true,
          requiresToolApproval: true,
          approvalModes: ['yolo', 'prompt', 'deny'],
          supportsThinking: true,
          thinkingEffortLevels: ['low', 'medium', 'high', 'max'],
          supportsJsonMode: true,
          supportsImageInput: true,
          supportsFileAttachments: true,
          supportsPlugins: true,
          pluginFormats: ['skill-directory', 'mcp-server'],
          pluginInstallCmd: 'copilot plugin install',
          pluginListCmd: 'copilot plugin list',
          pluginUninstallCmd: 'copilot plugin uninstall',
          pluginMarketplaceUrl: 'https://github.com/github/awesome-copilot',
        },
      },
    ],
  }),
  attachments: { image: 'content', text: 'prompt' },
  auth: {
    envVars: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    files: ['.copilot/config.json'],
    loginCommand: 'copilot login',
    guidance: ['Set GITHUB_TOKEN, or log in with copilot login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'none', reason: 'the profile has no thinking mode' },
  thinkingToday: { kind: 'level', parameter: 'reasoning_effort', words: EFFORT_WORDS },
};
