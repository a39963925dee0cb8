import { isJsonObject } from '../../../base/json.ts';
import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { flag, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: {
    undo: flag('--undo', 'make an archived agent active again; name it by its id'),
    delete: flag('--delete', 'delete it for good, with its sessions'),
  },
  examples: ['abp agents archive helper', 'abp agents archive helper --delete'],
  async run(context, { agent: named, undo, delete: forGood }) {
    const result = await withAgentApi(context, async (api) => {
      const id = await agentIdOf(api, named);
      const agent = await api.call('GET', `/v1/agents/${id}`);
      const archived = isJsonObject(agent) && agent.status === 'archived';
      if (undo) await api.call('PATCH', `/v1/agents/${id}`, { status: 'active' });
      else if (!archived) await api.call('DELETE', `/v1/agents/${id}`);
      if (undo) return { id, status: 'active' };
      // The first DELETE archives, the second removes.
      if (forGood) await api.call('DELETE', `/v1/agents/${id}`);
      return { id, status: forGood ? 'deleted' : 'archived' };
    });
    context.output.print(result, ({ id, status }) => `${id} is ${status}`);
    return EXITS.ok.code;
  },
});
