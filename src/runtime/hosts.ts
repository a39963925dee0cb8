import type { BuiltInAgentName } from '../contract/runs/coding-agent.ts';
import type { CapabilityManifest, Mode } from '../contract/support.ts';

/** A sidecar host that ships with the backplane, with what its hello advertises. */
export interface Host {
  readonly id: `host:${string}`;
  readonly name: string;
  /** `passthrough` where the host drives its own vendor, `mapped` where it drives another's. */
  readonly mode: Mode;
  /** The coding agent that it drives; absent where there is none, so that it is a bare model with our tools. */
  readonly agent?: BuiltInAgentName;
  /** The engine that serves it where the order names none. */
  readonly engine: string;
  /** A capability the host does not advertise has no key. */
  readonly manifest: CapabilityManifest;
}

/** The Claude host reaches its tools through an adapter module, so it vouches natively only for what it does itself. */
const claude: CapabilityManifest = {
  streaming: 'native',
  tool_read: 'emulated',
  tool_write: 'emulated',
  tool_edit: 'emulated',
  tool_bash: 'emulated',
  tool_glob: 'emulated',
  tool_grep: 'emulated',
  tool_web_search: 'emulated',
  tool_web_fetch: 'emulated',
  hooks_pre_tool_use: 'native',
  hooks_post_tool_use: 'native',
  session_resume: 'emulated',
  checkpointing: 'emulated',
  structured_output_json_schema: 'emulated',
  mcp_client: 'emulated',
};

const gemini: CapabilityManifest = {
  streaming: 'native',
  tool_read: 'native',
  tool_write: 'native',
  tool_edit: 'native',
  tool_bash: 'native',
  tool_glob: 'native',
  tool_grep: 'native',
  tool_web_search: 'native',
  tool_web_fetch: 'native',
  tool_ask_user: 'native',
  hooks_pre_tool_use: 'emulated',
  hooks_post_tool_use: 'emulated',
  session_resume: 'native',
  session_fork: 'native',
  checkpointing: 'emulated',
  structured_output_json_schema: 'emulated',
  mcp_client: 'native',
  mcp_server: 'emulated',
};

const copilot: CapabilityManifest = { ...gemini, structured_output_json_schema: 'native' };

/** Codex's dialect served by Claude. */
const codex: CapabilityManifest = {
  streaming: 'native',
  tool_read: 'native',
  tool_write: 'native',
  tool_edit: 'native',
  tool_bash: 'native',
  tool_glob: 'native',
  tool_grep: 'native',
  tool_web_search: 'native',
  tool_web_fetch: 'native',
  hooks_pre_tool_use: 'native',
  hooks_post_tool_use: 'native',
  session_resume: 'emulated',
  structured_output_json_schema: 'native',
};

/** The five hosts in the order of the capability matrix. */
export const HOSTS: readonly Host[] = [
  { id: 'host:claude', name: 'Claude (sidecar)', mode: 'passthrough', agent: 'claude', engine: 'claude', manifest: claude },
  { id: 'host:copilot', name: 'Copilot', mode: 'passthrough', agent: 'copilot', engine: 'copilot', manifest: copilot },
  { id: 'host:gemini', name: 'Gemini', mode: 'passthrough', agent: 'gemini', engine: 'gemini', manifest: gemini },
  { id: 'host:kimi', name: 'Kimi', mode: 'passthrough', engine: 'kimi', manifest: gemini },
  { id: 'host:codex', name: 'Codex→Claude', mode: 'mapped', agent: 'codex', engine: 'claude', manifest: codex },
];

/** Capabilities that the Claude host advertises when its adapter module says nothing of its own. */
export function defaultCapabilities(): CapabilityManifest {
  return claude;
}
