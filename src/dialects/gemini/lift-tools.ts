import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { lostTo, meansNothing } from '../../ir/ledger.ts';
import type { HostedToolKind, IrFunctionTool, IrHostedTool, IrTool, IrToolChoice } from '../../ir/request.ts';
import { liftLimits } from '../hosted-limits.ts';
import { vendorMeta } from '../members.ts';
import { camelCase, type ProtoFields } from './proto.ts';
import { remarkOrder, toJsonSchema } from './schema.ts';
import type * as wire from './wire.ts';

type Request = ProtoFields<wire.GenerateContentRequest>;

const HOSTED: Readonly<Record<string, HostedToolKind>> = {
  googleSearch: 'web_search',
  googleSearchRetrieval: 'web_search',
  urlContext: 'web_fetch',
  codeExecution: 'code_execution',
  mcpServers: 'mcp',
};

export interface LiftedTools {
  readonly tools: readonly IrTool[];
  readonly toolChoice?: IrToolChoice;
  /** Members of `toolConfig` that go back to Gemini as they came. */
  readonly own: JsonObject;
}

/** Functions first, then hosted tools: the wire keeps them apart, so their order among each other says nothing. */
export function liftTools(f: Request): LiftedTools {
  const tools = f.nodes('tools');
  const config = f.node('toolConfig');
  const calling = config?.node('functionCallingConfig');
  const mode = calling?.peek('mode')?.toUpperCase() ?? '';
  const strict = mode === 'VALIDATED';
  const functions = tools.flatMap((tool) =>
    tool.nodes('functionDeclarations').map((declaration) => liftFunction(declaration, strict ? calling?.where('mode') : undefined)),
  );
  calling?.read('mode', strict ? 'tool_strict' : 'tool_choice');
  const names = calling?.read('allowedFunctionNames', 'tool_choice') ?? [];
  const toolChoice = liftChoice(mode, names, functions.length > 0);
  if (calling !== undefined && !TAKES_NAMES.has(mode))
    calling.ledger.leaveIdle(calling.where('allowedFunctionNames'), meansNothing('in any mode but ANY and VALIDATED'));
  config?.read('retrievalConfig', 'vendor_option');
  config?.read('includeServerSideToolInvocations', 'vendor_option');
  calling?.read('streamFunctionCallArguments', 'stream_options');
  const inner = calling?.others(['mode', 'allowedFunctionNames']);
  return {
    tools: [...functions, ...tools.flatMap(liftHosted)],
    ...(toolChoice === undefined ? {} : { toolChoice }),
    own: { ...config?.others(['functionCallingConfig']), ...(inner === undefined ? {} : { functionCallingConfig: inner }) },
  };
}

const TAKES_NAMES: ReadonlySet<string> = new Set(['ANY', 'VALIDATED']);

/** A mode without functions says nothing. */
function liftChoice(mode: string, names: readonly string[], hasFunctions: boolean): IrToolChoice | undefined {
  switch (mode) {
    case '':
    case 'MODE_UNSPECIFIED':
      return undefined;
    case 'AUTO':
      return hasFunctions ? { kind: 'auto' } : undefined;
    case 'NONE':
      return hasFunctions ? { kind: 'none' } : undefined;
    case 'VALIDATED':
      if (names.length > 0) return { kind: 'allowed', names, mode: 'auto' };
      return hasFunctions ? { kind: 'auto' } : undefined;
    case 'ANY': {
      const [only] = names;
      if (only === undefined) return { kind: 'required' };
      return names.length === 1 ? { kind: 'tool', name: only } : { kind: 'allowed', names, mode: 'required' };
    }
    default:
      throw new AbpError('invalid_request', `toolConfig.functionCallingConfig.mode: "${mode}" is not one of AUTO, ANY, NONE, VALIDATED`);
  }
}

const DECLARED = ['name', 'description', 'parametersJsonSchema'];
/** Hints about a function that only Gemini takes. */
const HINTS = ['response', 'responseJsonSchema', 'behavior'];

/** `strictAt` is where the request holds the model to the schemas of all its functions, if it does. */
function liftFunction(d: ProtoFields<wire.FunctionDeclaration>, strictAt: string | undefined): IrFunctionTool {
  const strict = strictAt !== undefined;
  const name = d.read('name', 'tool');
  if (name === undefined) throw new AbpError('invalid_request', `${d.path}.name: is required`);
  const description = d.read('description', 'tool');
  const subset = d.read('parameters', 'tool');
  if (subset !== undefined) remarkOrder(subset, d.where('parameters'), d.ledger);
  const full = d.read('parametersJsonSchema', 'tool');
  if (full !== undefined) d.ledger.leaveIdle(d.where('parameters'), lostTo(d.where('parametersJsonSchema')));
  const schema = full ?? (subset === undefined ? undefined : toJsonSchema(subset));
  for (const hint of HINTS) d.read(hint, 'tool_option');
  return {
    kind: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    schema: schema ?? { type: 'object', properties: {} },
    ...(strict ? { strict, strictAt } : {}),
    at: d.path,
    // `parameters` stays beside its neutral form, so that Gemini gets its own words back.
    ...vendorMeta('gemini', d.others(DECLARED) ?? (strict ? {} : undefined)),
  };
}

/** Every other member of a tool names one that the engine runs. */
function liftHosted(tool: ProtoFields<wire.Tool>): IrHostedTool[] {
  return Object.entries(tool.others(['functionDeclarations']) ?? {}).map(([key, value]) => {
    const at = tool.at(key);
    tool.ledger.claim(at, 'hosted_tool');
    const name = camelCase(key);
    const hosted = HOSTED[name] ?? 'vendor';
    if (hosted !== 'vendor' && isJsonObject(value)) liftLimits(value, at, {}, tool.ledger);
    return { kind: 'hosted', hosted, name, at, meta: { gemini: { [key]: value } } };
  });
}
