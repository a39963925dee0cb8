import type { RegisteredAdapter } from '../../adapters/index.ts';
import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import { CliError } from '../failure.ts';

/** `claude:0f3c…`: the agent and the id that the agent itself gave. Such ids may hold colons. */
export function sessionAt(agents: CodingAgents, text: string): { readonly adapter: RegisteredAdapter; readonly id: string } {
  const colon = text.indexOf(':');
  if (colon <= 0) {
    throw new CliError('usage', `'${text}' does not name an agent and a session`, {
      hint: 'Write agent:id, as abp conversations list shows it.',
    });
  }
  return { adapter: agents.adapters.get(text.slice(0, colon)), id: text.slice(colon + 1) };
}
