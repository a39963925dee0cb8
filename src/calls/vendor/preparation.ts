import { setImmediate } from 'node:timers/promises';
import { AbpError } from '../../contract/errors.ts';
import { type Prepared, type PrepareInput, prepare, refusedWith } from '../../mapping/prepare.ts';
import type { Route } from '../../mapping/route.ts';
import { scanInTurns, spliceModel } from '../../mapping/scan.ts';
import { type PatchedText, type PatchTextInput, patchText } from '../../mapping/thinking-override.ts';
import { deniedTools, toolDenied } from '../../mapping/tools/tool-rules.ts';
import { digestInTurns } from '../answers/body-digest.ts';
import type { CallContext } from '../context.ts';
import { joinedHeader } from '../headers.ts';
import { isLarge, MOST_VALUES } from '../large-bodies/large-bodies.ts';
import { permission } from '../permission.ts';
import { chooseRoutes, isRewritten } from './choose.ts';
import type { Aside, Body, Read, VendorCall } from './vendor-call.ts';

/** The translated request for a route: made ready on another thread before, or here and now. */
export function preparedFor(call: VendorCall, read: Read, chosen: Route): Prepared {
  return read.aside?.prepared.get(keyOf(chosen)) ?? prepare(read.text, inputOf(call, chosen));
}

/** The request in its own dialect as a run or a policy decided it, likewise; undefined where none did. */
export function patchedFor(call: VendorCall, read: Read, chosen: Route): PatchedText | undefined {
  const input = patchOf(call, chosen);
  if (input === undefined) return undefined;
  const patched = read.aside?.patched.get(keyOf(chosen)) ?? patchText(renamedText(read, chosen), input);
  if (AbpError.is(patched)) throw patched;
  return patched;
}

/** Throws E005 where a body that passes as it is offers a denied tool. A large one has been read on another thread. */
export function assertPassable(call: VendorCall, read: Read, chosen: Route): void {
  const input = offerOf(call, chosen);
  if (input === undefined) return;
  const judged = read.aside?.patched.get(OFFER) ?? patchText(read.text, input);
  if (AbpError.is(judged)) throw judged;
  const [first] = deniedTools(judged.fidelity);
  if (first !== undefined) throw toolDenied(first.tool, first.rule, 'The request offers');
}

/** The key of what was found out about an offer, beside those of routes. */
const OFFER = 'offer';

/** How the offer of a body is judged that must pass as it is; undefined where no rule asks. */
function offerOf(call: VendorCall, { engine, model }: Route): PatchTextInput | undefined {
  const { toolRules, mayEdit } = call.options;
  if (toolRules.length === 0 || mayEdit || call.match.path.operation !== 'generate') return undefined;
  return { dialect: call.match.dialect, address: addressOf(call), engine, model, override: {}, toolRules };
}

/**
 * Reads a large body and, where it must be written anew, has that done on another thread, so that planning the call is quick. What
 * stands in the way is found again when the call is planned, and written down there.
 */
export async function readLarge(context: CallContext, call: VendorCall, body: Body & Partial<Read>): Promise<Read> {
  // Putting the body together, scanning it, hashing it and copying it take time; others may have their turn in between.
  await setImmediate();
  const scan = body.scan ?? (await scanInTurns(body.text));
  const read: Read = { ...body, scan, aside: { prepared: new Map(), patched: new Map(), renamed: new Map() } };
  await setImmediate();
  const textSha256 = await writeFirst(context, call, read);
  const known = body.text === body.body ? textSha256 : undefined;
  return { ...read, sha256: known ?? (await digestInTurns(body.body)) };
}

/** Has the request written for the first place that it may go to. */
async function writeFirst(context: CallContext, call: VendorCall, read: Read): Promise<string | undefined> {
  try {
    const [first] = chooseRoutes(context.routes, call, read.scan);
    if (first === undefined) return undefined;
    const { engine, model } = first;
    const ask = { way: 'mapped', owner: call.owner, engine: engine.id, model: model === '' ? null : model } as const;
    return permission(ask) === undefined ? await writeAside(context, call, read, first) : undefined;
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return undefined;
  }
}

/** Has a large request written for a route, unless it is already or need not be; resolves to the hash of its text where that came along. */
export function writeAside(context: CallContext, call: VendorCall, read: Read, chosen: Route): Promise<string | undefined> | undefined {
  const large = isLarge(read.text.length, read.scan.values);
  if (read.aside === undefined || !large || call.match.path.operation === 'embeddings') return undefined;
  const one = { call, read, chosen, aside: read.aside };
  if (isRewritten(call, chosen)) return prepareAside(context, one);
  const judged = judgeAside(context, one);
  return judged === undefined ? patchAside(context, one) : judged.then(() => patchAside(context, one));
}

/** A large request on its way to another thread. */
interface Outsourced {
  readonly call: VendorCall;
  readonly read: Read;
  readonly chosen: Route;
  readonly aside: Aside;
}

function prepareAside({ large }: CallContext, { call, read, chosen, aside }: Outsourced): Promise<string | undefined> | undefined {
  const { prepared } = aside;
  const key = keyOf(chosen);
  if (prepared.has(key)) return undefined;
  if (read.scan.values > MOST_VALUES) {
    prepared.set(key, refusedWith(tooMany()));
    return undefined;
  }
  return large.prepare(read.text, inputOf(call, chosen), call.share).then(
    (ready) => {
      prepared.set(key, ready.prepared);
      return ready.textSha256;
    },
    (error: unknown) => {
      if (!AbpError.is(error)) throw error;
      prepared.set(key, refusedWith(error));
      return undefined;
    },
  );
}

function judgeAside({ large }: CallContext, { call, read, chosen, aside: { patched } }: Outsourced): Promise<void> | undefined {
  const input = offerOf(call, chosen);
  if (input === undefined || patched.has(OFFER)) return undefined;
  if (read.scan.values > MOST_VALUES) {
    patched.set(OFFER, tooMany());
    return undefined;
  }
  return large.patch(read.text, input, call.share).then(
    (ready) => void patched.set(OFFER, ready),
    (error: unknown) => {
      if (!AbpError.is(error)) throw error;
      patched.set(OFFER, error);
    },
  );
}

function patchAside({ large }: CallContext, { call, read, chosen, aside }: Outsourced): Promise<undefined> | undefined {
  const { patched } = aside;
  const key = keyOf(chosen);
  const input = patchOf(call, chosen);
  if (input === undefined) return renameAside(read, chosen, aside);
  if (patched.has(key)) return undefined;
  if (read.scan.values > MOST_VALUES) {
    patched.set(key, tooMany());
    return undefined;
  }
  return large.patch(renamedText(read, chosen), input, call.share).then(
    (ready) => {
      patched.set(key, ready);
      return undefined;
    },
    (error: unknown) => {
      if (!AbpError.is(error)) throw error;
      patched.set(key, error);
      return undefined;
    },
  );
}

/** The caller's bytes with another model name. */
async function renameAside(read: Read, chosen: Route, { renamed }: Aside): Promise<undefined> {
  if (chosen.mode === 'passthrough' || read.scan.modelSpan === undefined || renamed.has(chosen.model)) return;
  const body = renamedText(read, chosen);
  await setImmediate();
  renamed.set(chosen.model, { body, sha256: await digestInTurns(body) });
}

function tooMany(): AbpError {
  return new AbpError('payload_too_large', `The request holds more than ${MOST_VALUES} values, which are too many to translate.`, {
    limit_values: MOST_VALUES,
  });
}

function keyOf({ engine, target, model, row }: Route): string {
  return JSON.stringify([engine.id, target.id, model, row?.emulate ?? []]);
}

function renamedText({ text, scan: { modelSpan } }: Read, { model }: Route): Buffer {
  return modelSpan === undefined ? text : spliceModel(text, modelSpan, model);
}

function addressOf({ match }: VendorCall): PrepareInput['address'] {
  return {
    ...(match.model === undefined ? {} : { model: match.model }),
    ...(match.path.stream === undefined ? {} : { stream: match.path.stream }),
  };
}

function patchOf(call: VendorCall, { engine, model }: Route): PatchTextInput | undefined {
  const { thinking, toolRules, mayEdit } = call.options;
  const rules = mayEdit ? toolRules : [];
  if ((thinking === undefined && rules.length === 0) || call.match.path.operation !== 'generate') return undefined;
  return { dialect: call.match.dialect, address: addressOf(call), engine, model, override: thinking ?? {}, toolRules: rules };
}

function inputOf(call: VendorCall, { engine, target, model, row }: Route): PrepareInput {
  const { match, options } = call;
  return {
    source: match.dialect,
    address: addressOf(call),
    engine,
    target,
    model,
    ...(match.path.operation === 'count-tokens' ? { operation: 'count-tokens' } : {}),
    compatibility: options.compatibility,
    emulate: new Set([...options.emulate, ...(row?.emulate ?? [])]),
    requirements: options.requirements,
    features: featuresOf(call),
    unknownLeaves: options.unknownLeaves,
    thinking: options.thinking,
    traffic: options.traffic,
    toolRules: options.toolRules,
  };
}

/** The caller's feature switches, as far as its dialect has any. */
function featuresOf({ match: { dialect }, headers }: VendorCall): Record<string, string> {
  const found = (dialect.featureHeaders ?? []).map((name) => [name, joinedHeader(headers, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
