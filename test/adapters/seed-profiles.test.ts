import { describe, expect, it } from 'vitest';
import { adapters, findAdapter } from '../../src/adapters/index.ts';
import type { AgentCapabilities } from '../../src/contract/runs/coding-agent.ts';

/** Section 12 of the seed, line by line. Its remarks in brackets are the words of the summary. */
const PROFILES: Readonly<Record<string, readonly string[]>> = {
  claude: [
    `session: canResume=true, canFork=true, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=true, structuredOutput=true`,
    `skills: supportsSkills=true, supportsAgentsMd=true, skillsFormat='directory'`,
    `subagents: supportsSubagentDispatch=true, supportsParallelExecution=true`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=true`,
    `plugins: supportsPlugins=true, pluginFormats=['skill-directory','mcp-server']`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key','oauth'], authFiles=['~/.claude/.credentials']`,
  ],
  codex: [
    `session: canResume=false, canFork=false, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high'], budgetTokens=false`,
    `output: jsonMode=true, structuredOutput=false`,
    `skills: supportsSkills=false, supportsAgentsMd=false, skillsFormat=null`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=false`,
    `plugins: supportsPlugins=false`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key'], authFiles=['~/.codex/auth.json']`,
  ],
  gemini: [
    `session: canResume=false, canFork=false, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=false, supportsAgentsMd=false, skillsFormat=null`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=true, fileAttachments=true`,
    `plugins: supportsPlugins=false`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key','oauth'], authFiles=['~/.config/gemini/credentials.json']`,
  ],
  copilot: [
    `session: canResume=false, canFork=false, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=false, thinking=false`,
    `tools: nativeTools=false, mcp=false, parallelToolCalls=false, requiresToolApproval=false, approvalModes=['prompt']`,
    `thinking: supportsThinking=false, effortLevels=[], budgetTokens=false`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=false, supportsAgentsMd=false, skillsFormat=null`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=false, imageOutput=false, fileAttachments=false`,
    `plugins: supportsPlugins=false`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['oauth','github-token'], authFiles=['~/.config/github-copilot/hosts.json']`,
  ],
  cursor: [
    `session: canResume=false, canFork=false, supportsMultiTurn=true, sessionPersistence='sqlite'`,
    `streaming: text=true, toolCall=false, thinking=false`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=false, supportsAgentsMd=false, skillsFormat=null`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=false`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=true`,
    `plugins: supportsPlugins=true, pluginFormats=['extension-ts','mcp-server'], registries=[{name:'cursor.sh/extensions'}]`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=true`,
    `auth: methods=['oauth'], authFiles=['~/.cursor/auth.json']`,
  ],
  opencode: [
    `session: canResume=true, canFork=true, supportsMultiTurn=true, sessionPersistence='sqlite'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=true, structuredOutput=true`,
    `skills: supportsSkills=true, supportsAgentsMd=true, skillsFormat='file'`,
    `subagents: supportsSubagentDispatch=true, supportsParallelExecution=true`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=true`,
    `plugins: supportsPlugins=true, pluginFormats=['npm-package','skill-file','mcp-server'], registries=[{name:'npm', searchable:true}]`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key'], authFiles=['~/.config/opencode/auth.json']`,
  ],
  pi: [
    `session: canResume=true, canFork=true, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=false, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=true, supportsAgentsMd=false, skillsFormat='file'`,
    `subagents: supportsSubagentDispatch=true, supportsParallelExecution=true`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=false`,
    `plugins: supportsPlugins=true, pluginFormats=['npm-package','skill-file'], registries=[{name:'npm', searchable:true}]`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key'], authFiles=['~/.pi/agent/auth.json']`,
  ],
  omp: [
    `session: canResume=true, canFork=true, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=true, thinking=true`,
    `tools: nativeTools=true, mcp=false, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=true, supportsAgentsMd=false, skillsFormat='file'`,
    `subagents: supportsSubagentDispatch=true, supportsParallelExecution=true`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=false`,
    `plugins: supportsPlugins=true, pluginFormats=['npm-package','skill-file'], registries=[{name:'npm', searchable:true}]`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key'], authFiles=['~/.omp/agent/auth.json']`,
  ],
  openclaw: [
    `session: canResume=false, canFork=false, supportsMultiTurn=true, sessionPersistence='file'`,
    `streaming: text=true, toolCall=false, thinking=false`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=true, effortLevels=['low','medium','high','max'], budgetTokens=true`,
    `output: jsonMode=true, structuredOutput=false`,
    `skills: supportsSkills=true, supportsAgentsMd=true, skillsFormat='file'`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=true, imageOutput=false, fileAttachments=true`,
    `plugins: supportsPlugins=true, pluginFormats=['npm-package','skill-file','channel-plugin'], registries=[{name:'npm', searchable:true},{name:'openclaw-registry', url:'https://openclaw.ai/plugins', searchable:true}]`,
    `process: platforms=['darwin','linux','win32'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key'], authFiles=['~/.openclaw/auth.json']`,
  ],
  hermes: [
    `session: canResume=true, canFork=false, supportsMultiTurn=true, sessionPersistence='sqlite'`,
    `streaming: text=true, toolCall=true, thinking=false`,
    `tools: nativeTools=true, mcp=true, parallelToolCalls=true, requiresToolApproval=true, approvalModes=['yolo','prompt','deny']`,
    `thinking: supportsThinking=false, effortLevels=[], budgetTokens=false`,
    `output: jsonMode=false, structuredOutput=false`,
    `skills: supportsSkills=true, supportsAgentsMd=false, skillsFormat='directory'`,
    `subagents: supportsSubagentDispatch=false, supportsParallelExecution=false`,
    `interaction: interactiveMode=true, stdinInjection=true`,
    `multimodal: imageInput=false, imageOutput=false, fileAttachments=false`,
    `plugins: supportsPlugins=true, pluginFormats=['skill-file','skill-directory','mcp-server'], registries=[{name:'agentskills-hub', url:'https://agentskills.io', searchable:true}]`,
    `process: platforms=['darwin','linux'], requiresGitRepo=false, requiresPty=false`,
    `auth: methods=['api-key','oauth'], authFiles=['~/.hermes/.env','~/.hermes/cli-config.yaml']`,
  ],
};

const list = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(',')}]`;
const word = (text: string | null): string => (text === null ? 'null' : `'${text}'`);

/** A registry shows in the profile what section 9 does not already say of it. */
function registries({ pluginRegistries }: AgentCapabilities): string {
  const shown = pluginRegistries.map(({ name, url, searchable }) => {
    const told = name === 'npm' || !searchable ? '' : `, url:'${url}'`;
    return `{name:'${name}'${told}${searchable ? ', searchable:true' : ''}}`;
  });
  return shown.length === 0 ? '' : `, registries=[${shown.join(',')}]`;
}

function plugins(caps: AgentCapabilities): string {
  const { supportsPlugins, pluginFormats } = caps;
  return `plugins: supportsPlugins=${supportsPlugins}${supportsPlugins ? `, pluginFormats=${list(pluginFormats)}${registries(caps)}` : ''}`;
}

/** A profile in the words of the seed. */
function lines(caps: AgentCapabilities): string[] {
  return [
    `session: canResume=${caps.canResume}, canFork=${caps.canFork}, supportsMultiTurn=${caps.supportsMultiTurn}, sessionPersistence=${word(caps.sessionPersistence)}`,
    `streaming: text=${caps.supportsTextStreaming}, toolCall=${caps.supportsToolCallStreaming}, thinking=${caps.supportsThinkingStreaming}`,
    `tools: nativeTools=${caps.supportsNativeTools}, mcp=${caps.supportsMCP}, parallelToolCalls=${caps.supportsParallelToolCalls}, requiresToolApproval=${caps.requiresToolApproval}, approvalModes=${list(caps.approvalModes)}`,
    `thinking: supportsThinking=${caps.supportsThinking}, effortLevels=${list(caps.thinkingEffortLevels)}, budgetTokens=${caps.supportsThinkingBudgetTokens}`,
    `output: jsonMode=${caps.supportsJsonMode}, structuredOutput=${caps.supportsStructuredOutput}`,
    `skills: supportsSkills=${caps.supportsSkills}, supportsAgentsMd=${caps.supportsAgentsMd}, skillsFormat=${word(caps.skillsFormat)}`,
    `subagents: supportsSubagentDispatch=${caps.supportsSubagentDispatch}, supportsParallelExecution=${caps.supportsParallelExecution}`,
    `interaction: interactiveMode=${caps.supportsInteractiveMode}, stdinInjection=${caps.supportsStdinInjection}`,
    `multimodal: imageInput=${caps.supportsImageInput}, imageOutput=${caps.supportsImageOutput}, fileAttachments=${caps.supportsFileAttachments}`,
    plugins(caps),
    `process: platforms=${list(caps.supportedPlatforms)}, requiresGitRepo=${caps.requiresGitRepo}, requiresPty=${caps.requiresPty}`,
    `auth: methods=${list(caps.authMethods)}, authFiles=${list(caps.authFiles)}`,
  ];
}

it('the ten agents of the seed are there, in its order', () => {
  expect(adapters.map(({ agent }) => agent)).toEqual(Object.keys(PROFILES));
});

describe('section 12', () => {
  it.each(Object.entries(PROFILES))('the profile of %s is the one of the seed', (agent, expected) => {
    const adapter = findAdapter(agent);
    expect(adapter?.capabilities.agent).toBe(agent);
    expect(adapter === undefined ? [] : lines(adapter.capabilities)).toEqual(expected);
  });

  it('a profile cannot be changed, not even deep inside', () => {
    for (const { capabilities } of adapters) {
      expect(Object.isFrozen(capabilities)).toBe(true);
      expect(Object.isFrozen(capabilities.installMethods[0])).toBe(true);
      expect(() => Object.assign(capabilities.approvalModes, ['deny'])).toThrow(TypeError);
    }
  });
});

/** Section 10: CLI, session, stream, fork, thinking, MCP, skills, plugins, ACP, platforms. */
const SUMMARY: Readonly<Record<string, string>> = {
  claude: 'Claude Code | claude | JSONL | yes | yes | yes | yes | yes | partial | no | darwin, linux, win32',
  codex: 'Codex CLI | codex | JSONL | yes | no | yes | yes | no | no | no | darwin, linux, win32',
  gemini: 'Gemini CLI | gemini | JSONL | yes | no | yes | yes | no | no | no | darwin, linux, win32',
  copilot: 'Copilot CLI | copilot | JSON | yes | no | no | no | no | no | no | darwin, linux, win32',
  cursor: 'Cursor | cursor | SQLite | partial | no | model-dep | yes | no | yes | no | darwin, linux, win32',
  opencode: 'OpenCode | opencode | SQLite | yes | yes | model-dep | yes | yes | yes | yes | darwin, linux, win32',
  pi: 'Pi | pi | JSONL tree | yes | yes | model-dep | no | yes | yes | yes | darwin, linux, win32',
  omp: 'omp (oh-my-pi) | omp | JSONL tree | yes | yes | yes | no | yes | yes | yes | darwin, linux, win32',
  openclaw: 'OpenClaw | openclaw | JSON | partial | no | model-dep | yes | yes | yes | no | darwin, linux, win32',
  hermes: 'Hermes | hermes | SQLite | yes | no | no | yes | yes | yes | yes | darwin, linux (WSL2 on win32)',
};

it.each(Object.entries(SUMMARY))('section 10: the row of %s', (agent, row) => {
  const adapter = findAdapter(agent);
  expect([adapter?.displayName, ...Object.values(adapter?.summary ?? {})].join(' | ')).toBe(row);
});

/** Section 9: support, formats, registries, marketplace. */
const PLUGINS: Readonly<Record<string, readonly [boolean, string, string, string | undefined]>> = {
  claude: [true, 'skill-directory, mcp-server', '', undefined],
  codex: [false, '', '', undefined],
  gemini: [false, '', '', undefined],
  copilot: [false, '', '', undefined],
  cursor: [true, 'extension-ts, mcp-server', 'cursor.sh/extensions', 'https://cursor.sh/extensions'],
  opencode: [true, 'npm-package, skill-file, mcp-server', 'npm', 'https://www.npmjs.com/search?q=opencode-'],
  pi: [true, 'npm-package, skill-file', 'npm', 'https://www.npmjs.com/search?q=%40mariozechner%2Fpi-'],
  omp: [true, 'npm-package, skill-file', 'npm', 'https://www.npmjs.com/search?q=%40oh-my-pi%2F'],
  openclaw: [true, 'npm-package, skill-file, channel-plugin', 'npm, openclaw-registry', 'https://openclaw.ai/plugins'],
  hermes: [true, 'skill-file, skill-directory, mcp-server', 'agentskills-hub', 'https://agentskills.io'],
};

it.each(Object.entries(PLUGINS))('section 9: the plugins of %s', (agent, [supported, formats, sources, url]) => {
  const caps = findAdapter(agent)?.capabilities;
  expect(caps?.supportsPlugins).toBe(supported);
  expect(caps?.pluginFormats.join(', ')).toBe(formats);
  expect(caps?.pluginRegistries.map(({ name }) => name).join(', ')).toBe(sources);
  expect(caps?.pluginMarketplaceUrl).toBe(url);
});

/** Section 7. */
const INSTALL: Readonly<Record<string, readonly string[]>> = {
  claude: ['all npm: npm install -g @anthropic-ai/claude-code', 'darwin brew: brew install claude-code'],
  codex: ['all npm: npm install -g @openai/codex'],
  gemini: ['all npm: npm install -g @google/gemini-cli'],
  copilot: [
    'all gh-extension: gh extension install github/gh-copilot (Requires GitHub CLI (gh). Install with: `brew install gh` / `winget install GitHub.cli`) after gh --version',
  ],
  cursor: [
    'darwin manual: open https://cursor.sh/download (macOS .dmg installer)',
    'linux manual: open https://cursor.sh/download (AppImage)',
    'win32 winget: winget install Cursor.Cursor (No headless-only install. Full app required even for CLI use.)',
  ],
  opencode: ['all npm: npm install -g opencode', 'darwin brew: brew install opencode/tap/opencode'],
  pi: ['all npm: npm install -g @mariozechner/pi-coding-agent'],
  omp: ['all npm: npm install -g @oh-my-pi/pi-coding-agent'],
  openclaw: ['all npm: npm install -g openclaw (Requires Node 22.16+, 16GB RAM minimum)'],
  hermes: [
    'all pip: pip install hermes-agent (Requires Python >= 3.11)',
    'all curl: curl -fsSL https://raw.githubusercontent.com/NousResearch/hermes-agent/main/scripts/install.sh | bash (Shell installer)',
    'all nix: nix run github:NousResearch/hermes-agent (Nix flake available)',
  ],
};

it.each(Object.entries(INSTALL))('section 7: the ways to install %s', (agent, expected) => {
  const ways = findAdapter(agent)?.capabilities.installMethods.map(({ platform, type, command, notes, prerequisiteCheck }) => {
    const remark = notes === undefined ? '' : ` (${notes})`;
    return `${platform} ${type}: ${command}${remark}${prerequisiteCheck === undefined ? '' : ` after ${prerequisiteCheck}`}`;
  });
  expect(ways).toEqual(expected);
});
