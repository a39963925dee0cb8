import { resolve } from 'node:path';
import { parseAt } from '../../contract/border.ts';
import { WorkOrder } from '../../contract/work-orders/work-order.ts';
import type { Context } from '../command.ts';
import { readJson } from '../input.ts';
import { canAsk } from './person.ts';

/** A work order in a file, or on the standard input; its folder is named from here on. */
export async function orderIn({ io, output }: Context, file: string): Promise<WorkOrder> {
  const order = parseAt(WorkOrder, await readJson(file, io), 'work order');
  const { vendor } = order.config;
  const says = 'abp.answerable' in vendor || (typeof vendor.abp === 'object' && vendor.abp !== null && 'answerable' in vendor.abp);
  // Nobody sits at the terminal: an order that needs an approval is refused, unless it says that somebody answers.
  const isDeaf = order.policy.require_approval_for.length > 0 && !says && (!canAsk(io) || output.json);
  return {
    ...order,
    workspace: { ...order.workspace, root: resolve(order.workspace.root) },
    config: { ...order.config, vendor: isDeaf ? { ...vendor, 'abp.answerable': false } : vendor },
  };
}
