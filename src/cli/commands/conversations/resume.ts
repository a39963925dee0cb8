import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { flag, optional, required } from '../../parameter.ts';
import { sessionAt } from '../../runs/session-id.ts';

export const command = defineCommand({
  arguments: {
    session: required('<session>', 'agent:id, as abp conversations list shows it'),
    prompt: optional('[prompt]', 'what comes next; without it the agent’s own screen is shown'),
  },
  options: {
    engine: optional('--engine <id>', 'the engine that serves the agent’s model calls'),
    model: optional('--model <name>', 'the model'),
    approval: optional('--approval <mode>', 'yolo, prompt or deny'),
    direct: flag('--direct', 'leave the agent’s model calls alone: no gateway'),
  },
  examples: ['abp conversations resume claude:5a1c2f6e-0b3d-4c1f-9f0e-2b7d1c9a4e11 "and now the tests"'],
  async run(context, { session, prompt, ...options }) {
    const { createSessions } = await import('../../../runtime/sessions.ts');
    const { adapter, id } = sessionAt(await openCodingAgents(context), session);
    // A session belongs to the folder it was begun in; most agents only find it from there.
    const { cwd } = await createSessions(context.io.env).get(adapter, id);
    const raw = { agent: adapter.agent, prompt, session: id, cwd, ...options };
    const { command: next } = prompt === undefined ? await import('../launch.ts') : await import('../run.ts');
    return await next.run(context, raw);
  },
});
