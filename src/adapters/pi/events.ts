import { lt } from 'semver';
import type { Clock } from '../../base/clock.ts';
import type { Dialogue, SpawnPlan } from '../adapter.ts';
import { type PiVoice, piDialogue } from '../families/pi/dialogue.ts';
import { doubleUnderscore } from '../families/tools/mcp-names.ts';

const VOICE: PiVoice = {
  tools: {
    mcp: doubleUnderscore,
    effects: {
      read: { does: 'read', path: ['path', 'file_path', 'filePath'] },
      write: { does: 'write', path: ['path', 'file_path', 'filePath'], content: ['content'] },
      edit: { does: 'patch', path: ['path', 'file_path', 'filePath'] },
      bash: { does: 'shell', command: ['command'] },
      powershell: { does: 'shell', command: ['command'] },
    },
  },
  guidance: 'Set the API key variable of the provider, or run `pi` and use /login.',
  // Versions before 0.80.4 have no line for the end of everything, only for the end of a run.
  lastLine: (version) => (version !== undefined && lt(version, '0.80.4') ? 'agent_end' : 'agent_settled'),
};

export function dialogue(plan: SpawnPlan, clock?: Clock): Dialogue {
  return piDialogue(VOICE, plan, clock);
}
