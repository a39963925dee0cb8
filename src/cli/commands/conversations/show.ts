import { exportSession } from '../../../runtime/session-export.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';
import { sessionAt } from '../../runs/session-id.ts';

export const command = defineCommand({
  arguments: { session: required('<session>', 'agent:id, as abp conversations list shows it') },
  options: {},
  examples: ['abp conversations show claude:5a1c2f6e-0b3d-4c1f-9f0e-2b7d1c9a4e11', 'abp conversations show codex:019a… --json'],
  async run(context, { session }) {
    const { createSessions } = await import('../../../runtime/sessions.ts');
    const { adapter, id } = sessionAt(await openCodingAgents(context), session);
    const found = await createSessions(context.io.env).get(adapter, id);
    context.output.print(found, (one) => exportSession(one, 'markdown').trimEnd());
    return EXITS.ok.code;
  },
});
