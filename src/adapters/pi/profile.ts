import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'pi',

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
  pluginInstallCmd: 'pi install',
  pluginListCmd: 'pi list',
  pluginUninstallCmd: 'pi remove',
  pluginMarketplaceUrl: 'https://www.npmjs.com/search?q=%40mariozechner%2Fpi-',
  pluginRegistries: [{ name: 'npm', url: 'https://www.npmjs.com/search?q=%40mariozechner%2Fpi-', searchable: true }],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key'],
  authFiles: ['~/.pi/agent/auth.json'],

  installMethods: [{ platform: 'all', type: 'npm', command: 'npm install -g @mariozechner/pi-coding-agent' }],
};

export const profile: Profile = {
  agent: 'pi',
  displayName: 'Pi',
  cliCommand: 'pi',
  messages: { when: 'steering', held: 'asked' },
  waits: 'every-tool',
  capabilities,
  summary: {
    cli: 'pi',
    session: 'JSONL tree',
    stream: 'yes',
    fork: 'yes',
    thinking: 'model-dep',
    mcp: 'no',
    skills: 'yes',
    plugins: 'yes',
    acp: 'yes',
    platforms: 'darwin, linux, win32',
  },
  notes: [
    { date: '2026-11-15', version: '0.87.1', note: 'the npm package is @earendil-works/pi-coding-agent since 0.74' },
    { date: '2026-11-15', version: '0.87.1', note: 'it has no approvals of its own: every tool runs' },
    { date: '2026-11-15', version: '0.87.1', note: '--thinking takes off to xhigh' },
    {
      date: '2026-11-20',
      version: '1.5.2',
      note: 'it has MCP servers: those of the user, and those that an extension registers for a run',
    },
    { date: '2026-11-20', version: '1.5.2', note: 'a command that it answers by itself is told as handled, and no run follows' },
  ],
  today: {
    date: '2026-11-20',
    platform: 'all',
    type: 'npm',
    command: 'npm install -g @earendil-works/pi-coding-agent || npm install -g @earendil-works/pi-coding-agent@0.87.1',
    notes: 'Requires Node 22.19 or newer. Renamed; where the registry lacks a dependency of the newest version, it is 0.87.1.',
    prerequisiteCheck: 'npm --version',
  },
  detect: detectRule({
    pattern: /^v?(\d+\.\d+\.\d+\S*)\s*$/m,
    tested: { oldest: '0.87.1', newest: '1.5.2' },
    measured: [
      { since: '0.74.2', differs: { supportsAgentsMd: true } },
      { since: '1.5.2', differs: { supportsMCP: true } },
    ],
  }),
  attachments: { image: 'content' },
  auth: {
    envVars: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    files: ['.pi/agent/auth.json'],
    guidance: ['Set the key of a provider, or start pi and use /login.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'provider' },
};
