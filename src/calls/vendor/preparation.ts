import { setImmediate } from 'node:timers/promises';
import { AbpError } from '../../contract/errors.ts';
import { type Prepared, type PrepareInput, prepare, refusedWith } from '../../mapping/prepare.ts';
import type { Route } from '../../mapping/route.ts';
import { scanBody, spliceModel } from '../../mapping/scan.ts';
import { type PatchedText, type PatchTextInput, patchText } from '../../mapping/thinking-override.ts';
import type { CallContext } from '../context.ts';
import { joinedHeader } from '../headers.ts';
import { LARGE_BYTES } from '../large-bodies/large-bodies.ts';
import { permission } from '../permission.ts';
import { chooseRoutes, isRewritten } from './choose.ts';
import type { Aside, Body, Read, VendorCall } from './vendor-call.ts';

/** The translated request for a route: made ready on another thread before, or here and now. */
export function preparedFor(call: VendorCall, read: Read, chosen: Route): Prepared {
  return read.aside?.prepared.get(keyOf(chosen)) ?? prepare(read.text, inputOf(call, chosen));
}

/** The request in its own dialect with the thinking that a run decided, likewise; undefined where none did. */
export function patchedFor(call: VendorCall, read: Read, chosen: Route): PatchedText | undefined {
  const input = patchOf(call, chosen);
  if (input === undefined) return undefined;
  const patched = read.aside?.patched.get(keyOf(chosen)) ?? patchText(renamedText(read, chosen), input);
  if (AbpError.is(patched)) throw patched;
  return patched;
}

/**
 * Reads a large body and, where it must be written anew, has that done on another thread, so that planning the call is quick. What
 * stands in the way is found again when the call is planned, and written down there.
 */
export async function readLarge(context: CallContext, call: VendorCall, body: Body): Promise<Body & Partial<Read>> {
  try {
    // Putting the body together, scanning it and copying it take some milliseconds each; others may have their turn in between.
    await setImmediate();
    const read: Read = { ...body, scan: scanBody(body.text), aside: { prepared: new Map(), patched: new Map() } };
    await setImmediate();
    const [first] = chooseRoutes(context.routes, call, read.scan);
    if (first === undefined) return read;
    const { engine, model } = first;
    if (permission({ way: 'mapped', owner: call.owner, engine: engine.id, model: model === '' ? null : model }) !== undefined) return read;
    const sha256 = await writeAside(context, call, read, first);
    return { ...read, ...(sha256 === undefined || body.text !== body.body ? {} : { sha256 }) };
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return body;
  }
}

/** Has a large request written for a route, unless it is already or need not be; resolves to the hash of its text where that came along. */
export function writeAside(context: CallContext, call: VendorCall, read: Read, chosen: Route): Promise<string | undefined> | undefined {
  if (read.aside === undefined || read.text.length < LARGE_BYTES || call.match.path.operation === 'embeddings') return undefined;
  const one = { call, read, chosen, aside: read.aside };
  return isRewritten(call, chosen) ? prepareAside(context, one) : patchAside(context, one);
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
  return large.prepare(read.text, inputOf(call, chosen)).then(
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

function patchAside({ large }: CallContext, { call, read, chosen, aside }: Outsourced): Promise<undefined> | undefined {
  const { patched } = aside;
  const key = keyOf(chosen);
  const input = patchOf(call, chosen);
  if (input === undefined || patched.has(key)) return undefined;
  return large.patch(renamedText(read, chosen), input).then(
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
  const { thinking } = call.options;
  if (thinking === undefined || call.match.path.operation !== 'generate') return undefined;
  return { dialect: call.match.dialect, address: addressOf(call), engine, model, override: thinking };
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
  };
}

/** The caller's feature switches, as far as its dialect has any. */
function featuresOf({ match: { dialect }, headers }: VendorCall): Record<string, string> {
  const found = (dialect.featureHeaders ?? []).map((name) => [name, joinedHeader(headers, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
