import { AbpError } from '../../contract/errors.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { PASSED_PATHS } from '../bare-model/bare-model.ts';
import type { OrderBackend } from './order-options.ts';
import { type OrderVendor, vendorOf } from './vendor.ts';

/** Why a member of an order does nothing on a backend; undefined where it does something. */
type Objection = (order: WorkOrder, own: OrderVendor, backend: OrderBackend) => string | undefined;

const isPassed = ({ mode }: OrderVendor): boolean => mode === 'passthrough';
const forPassing: Objection = (_, own) => (isPassed(own) ? undefined : 'is for mode passthrough alone');
/** A request that passes is written already. */
const forWork: Objection = (_, own) => (isPassed(own) ? 'the request passes as it is' : undefined);
const forModels: Objection = (order, own, backend) =>
  backend.kind === 'engine' ? forWork(order, own, backend) : `is for a bare model; ${backend.id} has its own way`;

/** Members that some backends could only overlook, by their path. A sidecar gets the whole order and decides itself. */
const OBJECTIONS: Readonly<Record<string, Objection>> = {
  'config.vendor.abp.mode': (_, own, { id, kind }) =>
    isPassed(own) && kind === 'adapter' ? `${id} takes tasks, no requests of a vendor` : undefined,
  'config.vendor.abp.request': forPassing,
  'config.vendor.abp.dialect': (order, own, backend) => {
    const { dialect = 'claude' } = own;
    if (!isPassed(own)) return forPassing(order, own, backend);
    return PASSED_PATHS[dialect] === undefined
      ? `a request of ${dialect} cannot be passed on; ${Object.keys(PASSED_PATHS).join(', ')} can`
      : undefined;
  },
  'config.vendor.abp.engine': (_, { engine }, { id, kind }) =>
    kind === 'engine' && id !== `engine:${engine}` ? `the backend is ${id} itself` : undefined,
  'config.vendor.abp.system': forModels,
  'config.vendor.abp.max_tokens': forModels,
  'config.vendor.abp.temperature': forModels,
  'config.vendor.abp.thinking': forWork,
  'context.files': forWork,
  'context.snippets': forWork,
  'config.max_turns': forWork,
  'config.model': ({ config: { model } }, own) =>
    isPassed(own) && own.request?.model !== model ? 'the request that passes names another one' : undefined,
};

/** Throws on a member that the backend would overlook, by its name. */
export function assertMembers(order: WorkOrder, backend: OrderBackend): void {
  if (backend.kind === 'sidecar') return;
  const own = vendorOf(order);
  if (isPassed(own) && own.request === undefined) throw refused('config.vendor.abp.request', 'is needed for passthrough');
  for (const [path, objection] of Object.entries(OBJECTIONS)) {
    const reason = isSaid(order, own, path) ? objection(order, own, backend) : undefined;
    if (reason !== undefined) throw refused(path, reason);
  }
}

function isSaid({ context, config }: WorkOrder, own: OrderVendor, path: string): boolean {
  const member = path.split('.').at(-1) ?? '';
  const said: Readonly<Record<string, unknown>> = {
    ...own,
    max_tokens: own.maxTokens,
    model: config.model ?? undefined,
    max_turns: config.max_turns ?? undefined,
    ...filled(context),
  };
  return said[member] !== undefined;
}

const filled = ({ files, snippets }: WorkOrder['context']): object => ({
  ...(files.length > 0 && { files }),
  ...(snippets.length > 0 && { snippets }),
});

function refused(path: string, message: string): AbpError {
  return new AbpError('invalid_request', `work order is not valid: ${path}: ${message}`, { path });
}
