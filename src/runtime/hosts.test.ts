import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../contract/capability.ts';
import { CapabilityManifest } from '../contract/support.ts';
import { defaultCapabilities, HOSTS } from './hosts.ts';

const COLUMNS = ['host:claude', 'host:copilot', 'host:gemini', 'host:kimi', 'host:codex'] as const;

/** Seed 000's matrix: N = native, E = emulated, - = not advertised. */
const MATRIX = [
  ['streaming', 'N', 'N', 'N', 'N', 'N'],
  ['tool_read', 'E', 'N', 'N', 'N', 'N'],
  ['tool_write', 'E', 'N', 'N', 'N', 'N'],
  ['tool_edit', 'E', 'N', 'N', 'N', 'N'],
  ['tool_bash', 'E', 'N', 'N', 'N', 'N'],
  ['tool_glob', 'E', 'N', 'N', 'N', 'N'],
  ['tool_grep', 'E', 'N', 'N', 'N', 'N'],
  ['tool_web_search', 'E', 'N', 'N', 'N', 'N'],
  ['tool_web_fetch', 'E', 'N', 'N', 'N', 'N'],
  ['tool_ask_user', '-', 'N', 'N', 'N', '-'],
  ['hooks_pre_tool_use', 'N', 'E', 'E', 'E', 'N'],
  ['hooks_post_tool_use', 'N', 'E', 'E', 'E', 'N'],
  ['session_resume', 'E', 'N', 'N', 'N', 'E'],
  ['session_fork', '-', 'N', 'N', 'N', '-'],
  ['checkpointing', 'E', 'E', 'E', 'E', '-'],
  ['structured_output_json_schema', 'E', 'N', 'E', 'E', 'N'],
  ['mcp_client', 'E', 'N', 'N', 'N', '-'],
  ['mcp_server', '-', 'E', 'E', 'E', '-'],
] as const;

const LEVELS = { N: 'native', E: 'emulated', '-': undefined };

function manifestOf(id: string): CapabilityManifest {
  const host = HOSTS.find((entry) => entry.id === id);
  if (host === undefined) throw new Error(`there is no ${id}`);
  return host.manifest;
}

const cells = MATRIX.flatMap(([capability, ...letters]) =>
  COLUMNS.map((id, column) => ({ id, capability, letter: letters[column] ?? '-' })),
);

describe('the host manifests', () => {
  it('the matrix has eighteen rows and five columns', () => {
    expect(cells.length).toBe(90);
    expect(HOSTS.map((host) => host.id)).toEqual(COLUMNS);
  });

  it.each(cells)('$id has $capability at $letter', ({ id, capability, letter }) => {
    const manifest = manifestOf(id);
    expect(manifest[capability]).toBe(LEVELS[letter]);
    expect(Object.hasOwn(manifest, capability)).toBe(letter !== '-');
  });

  it.each(COLUMNS)('%s advertises nothing beyond the matrix, in contract order, and fits the contract', (id) => {
    const manifest = manifestOf(id);
    const column = COLUMNS.indexOf(id) + 1;
    expect(Object.keys(manifest)).toEqual(MATRIX.filter((row) => row[column] !== '-').map(([capability]) => capability));
    expect(CapabilityManifest.parse(manifest)).toEqual(manifest);
  });

  it('the matrix covers the first eighteen capabilities of the contract', () => {
    expect(MATRIX.map(([capability]) => capability)).toEqual(CAPABILITIES.slice(0, 18).map((row) => row.name));
  });

  it('only the Codex host is in mapped mode', () => {
    expect(HOSTS.filter((host) => host.mode === 'mapped').map((host) => host.id)).toEqual(['host:codex']);
  });

  it('the default capabilities are the Claude column', () => {
    expect(defaultCapabilities()).toEqual(manifestOf('host:claude'));
  });
});
