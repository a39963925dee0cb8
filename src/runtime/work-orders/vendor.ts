import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { checkAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { JsonRecord } from '../../contract/json-value.ts';
import { APPROVAL_MODES, THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import { OrderLimits } from '../../contract/runs/run-limits.ts';
import { Compatibility, Mode } from '../../contract/support.ts';
import type { ForeignWorkOrder } from '../../contract/work-orders/work-order.ts';

/** Our own namespace of `config.vendor`. */
const OWN = 'abp';

/** The members of `config.vendor.abp`; another one is refused by its name. */
export const OwnOptions = z.strictObject({
  mode: Mode.optional().describe('passthrough: `request` goes to the engine as it is.'),
  request: JsonRecord.optional().describe('With passthrough: the request of the vendor.'),
  dialect: z.string().optional().describe('The dialect of `request`.'),
  source_dialect: z.string().optional().describe('Another name of dialect.'),
  engine: z.string().optional().describe('The engine that serves the model calls of an adapter, a host or a sidecar.'),
  compatibility: Compatibility.optional().describe('strict: whatever is not native is refused.'),
  enforcement: z.enum(['enforced', 'advisory']).optional().describe('advisory: rules that nothing holds do not stop the run.'),
  sandbox: z.boolean().optional().describe('The backend is confined by the operating system, or not started.'),
  limits: OrderLimits.optional().describe('Hard limits on processes, memory and disk; one that nothing holds refuses the order.'),
  timeout_seconds: z.number().positive().optional().describe('The run is ended after this long.'),
  approval: z.enum(APPROVAL_MODES).optional().describe('What becomes of tools that an agent asks about; yolo unless told.'),
  approval_timeout_seconds: z.number().positive().optional().describe('An approval that nobody answers is denied after this long.'),
  answerable: z.boolean().optional().describe('false: nobody will answer approvals; an order that needs one is refused.'),
  thinking: z.enum(THINKING_EFFORT_LEVELS).optional().describe('How hard a coding agent thinks.'),
  system: z.string().optional().describe('The system prompt of a bare model.'),
  max_tokens: z.int().positive().optional().describe('What a bare model may write in one answer.'),
  temperature: z.number().min(0).max(2).optional().describe('For a bare model.'),
  check: z.string().min(1).optional().describe('A command that judges the work in a copy of the staged workspace.'),
  check_timeout_seconds: z.number().positive().optional().describe('A check that takes longer has not passed.'),
  tags: z.array(z.string()).optional().describe('Labels of the receipts.'),
});

export interface OrderVendor extends Omit<z.infer<typeof OwnOptions>, 'source_dialect' | 'max_tokens'> {
  readonly maxTokens?: number | undefined;
}

type Ordered = Pick<ForeignWorkOrder, 'config'>;

/** Options of ours that an order carries, spelled `abp: { mode }` or `"abp.mode"`. Throws on a member that is not ours. */
export function vendorOf({ config }: Ordered): OrderVendor {
  const checked = checkAt(OwnOptions, namespaceOf({ config }, OWN));
  if (!checked.ok) {
    const [{ path, message } = { path: '', message: '' }] = checked.complaints;
    throw refused(`config.vendor.abp${path === '' ? '' : `.${path}`}`, message);
  }
  const { source_dialect, dialect = source_dialect, max_tokens: maxTokens, ...own } = checked.value;
  if (source_dialect !== undefined && source_dialect !== dialect)
    throw refused('config.vendor.abp.source_dialect', 'says something else than config.vendor.abp.dialect');
  return { ...own, ...(dialect !== undefined && { dialect: dialectName(dialect) }), ...(maxTokens !== undefined && { maxTokens }) };
}

/** Namespaces of other backends, in their order. */
export function otherNamespaces({ config }: Ordered): readonly string[] {
  const names = Object.keys(config.vendor).map((name) => name.split('.')[0] ?? name);
  return [...new Set(names)].filter((name) => name !== OWN);
}

/** Members of one namespace, spelled either way. Throws where they are none, or where the two spellings say different things. */
export function namespaceOf({ config }: Ordered, namespace: string): JsonObject {
  const nested = config.vendor[namespace] ?? {};
  if (!isJsonObject(nested)) throw refused(`config.vendor.${namespace}`, 'must be an object');
  const members = new Map(Object.entries(nested));
  for (const [name, value] of Object.entries(config.vendor)) {
    if (!name.startsWith(`${namespace}.`)) continue;
    const member = name.slice(namespace.length + 1);
    const other = members.get(member);
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(value))
      throw refused(`config.vendor["${name}"]`, `says something else than config.vendor.${namespace}.${member}`);
    members.set(member, value);
  }
  return Object.fromEntries(members);
}

function refused(path: string, message: string): AbpError {
  return new AbpError('invalid_request', `work order is not valid: ${path}: ${message}`, { path });
}

/** The first implementation of the contract calls one dialect by another name. */
function dialectName(name: string): string {
  return name === 'open_ai' || name === 'openai' ? 'openai-chat' : name;
}

/** The model that an order names: its own, or that of the request that it passes on. */
export function modelOf(order: Ordered): string | null {
  const { request } = vendorOf(order);
  return order.config.model ?? (typeof request?.model === 'string' ? request.model : null);
}
