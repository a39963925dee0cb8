import type { ForeignWorkOrder } from '../../contract/work-orders/work-order.ts';

type Asked = Pick<ForeignWorkOrder, 'task' | 'context'>;

/** The prompt of a work order: its task, the files to look at, and the texts that came with it. */
export function promptOf({ task, context }: Asked): string {
  const files = context.files.length === 0 ? [] : [`Context files:\n${context.files.map((file) => `- ${file}`).join('\n')}`];
  const snippets = context.snippets.map(({ name, content }) => `[${name}]\n${content}`);
  return [task, ...files, ...snippets].join('\n\n');
}
