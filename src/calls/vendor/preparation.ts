import { AT_ONCE, digestInTurns, joinedInTurns } from '../../base/bounded/buffers.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Prepared, type PrepareInput, prepare, refusedWith } from '../../mapping/prepare.ts';
import type { Route } from '../../mapping/route.ts';
import { scanInTurns, splicedModel, spliceModel } from '../../mapping/scan/scan.ts';
import { type PatchedText, type PatchTextInput, patchText } from '../../mapping/thinking-override.ts';
import { deniedTools, toolDenied } from '../../mapping/tools/tool-rules.ts';
import type { CallContext } from '../context.ts';
import { joinedHeader } from '../headers.ts';
import { isLarge, MOST_VALUES } from '../large-bodies/large-bodies.ts';
import { permission } from '../permission.ts';
import { chooseRoutes, isRewritten } from './choose.ts';
import { recordingOf } from './recorded.ts';
import type { Aside, Body, Read, VendorCall } from './vendor-call.ts';

/** The translated request for a route: made ready on another thread before, or here and now. */
export function preparedFor(call: VendorCall, read: Read, chosen: Route): Prepared {
  return read.aside?.prepared.get(keyOf(chosen)) ?? prepare(read.text, inputOf(call, read, chosen));
}

/** The request in its own dialect as a run or a policy decided it, likewise; undefined where none did. */
export function patchedFor(call: VendorCall, read: Read, chosen: Route): PatchedText | undefined {
  const input = patchOf(call, read, chosen);
  if (input === undefined) return undefined;
  const patched = read.aside?.patched.get(keyOf(chosen)) ?? patchText(renamedText(read, chosen), input);
  if (AbpError.is(patched)) throw patched;
  return patched;
}

/** Throws E005 where a body that passes as it is offers a denied tool. A large one has been read on another thread. */
export function assertPassable(call: VendorCall, read: Read, chosen: Route): void {
  const input = offerOf(call, read, chosen);
  if (input === undefined) return;
  const judged = read.aside?.patched.get(OFFER) ?? patchText(read.text, input);
  if (AbpError.is(judged)) throw judged;
  const [first] = deniedTools(judged.fidelity);
  if (first !== undefined) throw toolDenied(first.tool, first.rule, 'The request offers');
}

/** The key of what was found out about an offer, beside those of routes. */
const OFFER = 'offer';

/** How the offer of a body is judged that must pass as it is; undefined where no rule asks. */
function offerOf(call: VendorCall, { scan: { values } }: Read, { engine, model }: Route): PatchTextInput | undefined {
  const { toolRules, mayEdit } = call.options;
  if (toolRules.length === 0 || mayEdit || call.match.path.operation !== 'generate') return undefined;
  return { dialect: call.match.dialect, address: addressOf(call), engine, model, override: {}, toolRules, values };
}

/**
 * Reads a large body and, where it must be written anew, has that done on another thread, so that planning the call is quick. What
 * stands in the way is found again when the call is planned, and written down there.
 */
export async function readLarge(context: CallContext, call: VendorCall, body: Body & Partial<Read>): Promise<Read> {
  // Putting the body together, scanning it, hashing it and copying it take time; others have their turn in between.
  const scan = body.scan ?? (await scanInTurns(body.text));
  const aside: Aside = { prepared: new Map(), patched: new Map(), renamed: new Map() };
  const read: Read = { ...body, scan, aside };
  const first = firstRoute(context, call, scan);
  const textSha256 = first === undefined ? undefined : await writeFirst(context, call, read, first);
  const known = body.text === body.body ? textSha256 : undefined;
  const sha256 = known ?? (await digestInTurns(body.body));
  const kept = recordingOf(call, first?.row?.recording) === 'full' ? await keptAside(context, { ...body, aside }, first) : undefined;
  return { ...read, sha256, ...(kept === undefined ? {} : { kept }) };
}

/** Writes what will be recorded of the request to the disk, where that takes so long that others would wait for it. */
function keptAside(
  { sink }: CallContext,
  { body, aside }: Body & { aside: Aside },
  first: Route | undefined,
): Promise<Read['kept']> | undefined {
  const sent = first === undefined ? undefined : sentBody(aside, first);
  const bodies = sent === undefined ? [body] : [body, sent];
  return bytesOf(bodies) <= AT_ONCE ? undefined : sink.putAside?.(bodies);
}

function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The first place that the call may go to. */
function firstRoute(context: CallContext, call: VendorCall, scan: Read['scan']): Route | undefined {
  try {
    return chooseRoutes(context.routes, call, scan)[0];
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return undefined;
  }
}

/** Has the request written for that place. */
async function writeFirst(context: CallContext, call: VendorCall, read: Read, first: Route): Promise<string | undefined> {
  const { engine, model } = first;
  const ask = { way: 'mapped', owner: call.owner, engine: engine.id, model: model === '' ? null : model } as const;
  try {
    return permission(ask) === undefined ? await writeAside(context, call, read, first) : undefined;
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return undefined;
  }
}

/** The body that another thread has written for this place, if it was written there. */
function sentBody({ prepared, patched, renamed }: Aside, chosen: Route): Buffer | undefined {
  const patch = patched.get(keyOf(chosen));
  const own = AbpError.is(patch) ? undefined : patch?.body;
  return prepared.get(keyOf(chosen))?.upstream?.body ?? own ?? renamed.get(chosen.model)?.body;
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
  return large.prepare(read.text, inputOf(call, read, chosen), call.share).then(
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
  const input = offerOf(call, read, chosen);
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
  const input = patchOf(call, read, chosen);
  if (input === undefined) return renameAside(read, chosen, aside);
  if (patched.has(key)) return undefined;
  if (read.scan.values > MOST_VALUES) {
    patched.set(key, tooMany());
    return undefined;
  }
  return renamedInTurns(read, chosen)
    .then((text) => large.patch(text, input, call.share))
    .then(
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
  const body = await renamedInTurns(read, chosen);
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

async function renamedInTurns({ text, scan: { modelSpan } }: Read, { model }: Route): Promise<Buffer> {
  if (modelSpan === undefined) return text;
  const pieces = splicedModel(text, modelSpan, model);
  return await joinedInTurns(pieces, bytesOf(pieces));
}

function addressOf({ match }: VendorCall): PrepareInput['address'] {
  return {
    ...(match.model === undefined ? {} : { model: match.model }),
    ...(match.path.stream === undefined ? {} : { stream: match.path.stream }),
  };
}

function patchOf(call: VendorCall, { scan: { values } }: Read, { engine, model }: Route): PatchTextInput | undefined {
  const { thinking, toolRules, mayEdit } = call.options;
  const rules = mayEdit ? toolRules : [];
  if ((thinking === undefined && rules.length === 0) || call.match.path.operation !== 'generate') return undefined;
  return { dialect: call.match.dialect, address: addressOf(call), engine, model, override: thinking ?? {}, toolRules: rules, values };
}

function inputOf(call: VendorCall, { scan: { values } }: Read, { engine, target, model, row }: Route): PrepareInput {
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
    values,
  };
}

/** The caller's feature switches, as far as its dialect has any. */
function featuresOf({ match: { dialect }, headers }: VendorCall): Record<string, string> {
  const found = (dialect.featureHeaders ?? []).map((name) => [name, joinedHeader(headers, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
