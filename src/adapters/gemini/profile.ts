import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import { detectRule, type Profile } from '../define.ts';

const capabilities: AgentCapabilities = {
  agent: 'gemini',

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
  supportsStdinInjection: true,

  supportsImageInput: true,
  supportsImageOutput: true,
  supportsFileAttachments: true,

  supportsPlugins: false,
  pluginFormats: [],
  pluginRegistries: [],

  supportedPlatforms: ['darwin', 'linux', 'win32'],
  requiresGitRepo: false,
  requiresPty: false,

  authMethods: ['api-key', 'oauth'],
  authFiles: ['~/.config/gemini/credentials.json'],

  installMethods: [{ platform: 'all', type: 'npm', command: 'npm install -g @google/gemini-cli' }],
};

export const profile: Profile = {
  agent: 'gemini',
  displayName: 'Gemini CLI',
  cliCommand: 'gemini',
  messages: { when: 'between', held: 'asked' },
  waits: 'what-it-asks',
  capabilities,
  summary: {
    cli: 'gemini',
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
    { date: '2026-11-15', version: '0.61.0', note: '--resume works; extensions are its plugins; -o json prints one JSON object' },
    { date: '2026-11-15', version: '0.61.0', note: 'no option sets thinking; a settings file of the run does' },
    { date: '2026-11-15', version: '0.61.0', note: 'thoughts are not printed in its JSON stream' },
    { date: '2026-11-15', version: '0.61.0', note: 'configuration is in .gemini, not .config/gemini' },
  ],
  detect: detectRule({
    pattern: /^(\d+\.\d+\.\d+\S*)\s*$/m,
    tested: { oldest: '0.61.0', newest: '0.61.0' },
    measured: [
      {
        since: '0.61.0',
        differs: {
          canResume: true,
          supportsJsonMode: true,
          supportsThinkingStreaming: false,
          supportsPlugins: true,
          pluginFormats: ['skill-directory', 'mcp-server'],
          pluginInstallCmd: 'gemini extensions install',
          pluginListCmd: 'gemini extensions list',
          pluginUninstallCmd: 'gemini extensions uninstall',
        },
      },
    ],
  }),
  attachments: { image: 'content', pdf: 'content', text: 'prompt' },
  auth: {
    envVars: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    files: ['.gemini/oauth_creds.json'],
    guidance: ['Set GEMINI_API_KEY, or start gemini once and log in.'],
    forwardsLogin: false,
  },
  thinking: { kind: 'budget', parameter: 'thinkingBudget' },
};
