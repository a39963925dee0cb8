import type { Clock } from '../../base/clock.ts';
import type { Dialogue, SpawnPlan } from '../adapter.ts';
import { type PiVoice, piDialogue } from '../families/pi/dialogue.ts';

const VOICE: PiVoice = {
  tools: {
    mcp: () => undefined,
    effects: {
      read: { does: 'read', path: ['path', 'file_path', 'filePath'] },
      write: { does: 'write', path: ['path', 'file_path', 'filePath'], content: ['content'] },
      edit: { does: 'patch', path: ['path', 'file_path', 'filePath'] },
      bash: { does: 'shell', command: ['command'] },
      task: { does: 'subagent', prompt: ['prompt', 'task', 'assignment'] },
    },
  },
  guidance: 'Set the API key variable of the provider, or run `omp` and use /login.',
  lastLine: () => 'agent_end',
};

export function dialogue(plan: SpawnPlan, clock?: Clock): Dialogue {
  return piDialogue(VOICE, plan, clock);
}
