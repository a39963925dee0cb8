/**
 * Members that a coding agent writes anew into every session, and a replay must not compare: ids of the session and keys of prompt
 * caches. `*` stands for any one step.
 */
const PRESETS: Readonly<Record<string, readonly string[]>> = {
  claude: ['/metadata/user_id'],
  codex: ['/prompt_cache_key', '/client_metadata'],
  copilot: ['/user', '/prompt_cache_key', '/safety_identifier'],
  gemini: ['/labels', '/session_id'],
  opencode: ['/metadata/user_id', '/prompt_cache_key', '/user'],
  omp: ['/metadata/user_id', '/prompt_cache_key', '/user'],
  openclaw: ['/metadata/user_id', '/prompt_cache_key', '/user'],
  pi: ['/metadata/user_id', '/prompt_cache_key', '/user'],
  qwen: ['/metadata'],
};

/** JSON pointers of a list that may also name presets; what is neither is refused by name. */
export function pointersOf(list: readonly string[]): { pointers: readonly string[]; unknown: readonly string[] } {
  const pointers: string[] = [];
  const unknown: string[] = [];
  for (const item of list) {
    const preset = PRESETS[item];
    if (item.startsWith('/')) pointers.push(item);
    else if (preset === undefined) unknown.push(item);
    else pointers.push(...preset);
  }
  return { pointers: [...new Set(pointers)].sort(), unknown };
}

export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);
