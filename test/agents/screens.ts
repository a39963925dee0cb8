interface Question {
  readonly shows: RegExp;
  readonly keys: readonly string[];
}

/** The screen of an agent, as somebody who sits before it knows it. */
export interface AgentScreen {
  /** Configuration of the user, by path below their home; a launch leaves every byte of it. */
  readonly own: Readonly<Record<string, string>>;
  /** What the agent itself wrote when it was first used, and writes again. */
  readonly state?: Readonly<Record<string, string>>;
  /** What the agent asks a user who has not answered before, and the keys that say yes. */
  readonly questions: readonly Question[];
  /** It waits for a prompt. */
  readonly ready: RegExp;
  /** The command that ends it. */
  readonly quit: string;
}

const ENTER = '\r';
const DOWN = '\u001b[B';

export const SCREENS: Readonly<Record<string, AgentScreen>> = {
  claude: {
    own: { '.claude/settings.json': '{ "cleanupPeriodDays": 7, "theme": "dark" }\n', '.claude/CLAUDE.md': 'Be brief.\n' },
    // On a machine where it has never run it asks for a theme and keeps the answer in its settings.
    state: { '.claude.json': '{ "hasCompletedOnboarding": true }\n' },
    questions: [{ shows: /Yes, I trust this folder/, keys: [DOWN, ENTER] }],
    ready: /for shortcuts|Try "/,
    quit: '/exit',
  },
  codex: {
    // It notes in this file, by itself and once, that it has looked for a screen reader.
    own: { '.codex/config.toml': '# mine\n[tui]\nscreen_reader_detection_done = true\n', '.codex/AGENTS.md': 'Be brief.\n' },
    questions: [{ shows: /Do you trust the contents/, keys: [ENTER] }],
    ready: /Ask Codex to do anything/,
    quit: '/quit',
  },
  gemini: {
    own: { '.gemini/settings.json': '{ "ui": { "hideTips": true } }\n', '.gemini/GEMINI.md': 'Be brief.\n' },
    questions: [],
    ready: /Type your message/,
    quit: '/quit',
  },
  copilot: {
    own: { '.copilot/mcp-config.json': '{ "mcpServers": {} }\n' },
    questions: [{ shows: /Do you trust the files in this folder/, keys: [ENTER] }],
    ready: /Manual Approval/,
    quit: '/exit',
  },
  opencode: {
    own: { '.config/opencode/opencode.json': '{ "$schema": "https://opencode.ai/config.json", "username": "me" }\n' },
    questions: [],
    ready: /Ask anything/,
    quit: '/exit',
  },
  pi: {
    own: { '.pi/agent/models.json': '{ "providers": {} }\n' },
    // It notes in this file which version it was that ran last.
    state: { '.pi/agent/settings.json': '{ "lastChangelogVersion": "0.87.1" }\n' },
    questions: [],
    ready: /\(auto\)/,
    quit: '/quit',
  },
  omp: {
    own: { '.omp/agent/config.yml': '# mine\nhideThinkingBlock: true\n' },
    questions: [],
    ready: /Recent sessions/,
    quit: '/exit',
  },
  openclaw: {
    own: { '.openclaw/openclaw.json': '{ "ui": { "seamColor": "#336699" } }\n' },
    questions: [],
    ready: /local ready \| idle/,
    quit: '/exit',
  },
  hermes: {
    own: { '.hermes/config.yaml': '# mine\ndisplay:\n  compact: false\n', '.hermes/SOUL.md': 'Be brief.\n' },
    questions: [],
    ready: /Type your message or \/help/,
    quit: '/quit',
  },
};
