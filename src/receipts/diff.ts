import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/** A value that two receipts have in different forms. */
export interface Change {
  readonly path: string;
  /** Undefined where one of them has none. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** How two receipts differ: in what the runs did, and in what is of the moment. */
export interface ReceiptDiff {
  /** Whether the runs did the same: their content hashes are equal. */
  readonly same: boolean;
  readonly content: readonly Change[];
  readonly incidental: readonly Change[];
}

/** The members that `receipt_sha256` is made of. */
const CONTENT: ReadonlySet<string> = new Set([
  ...['contract_version', 'plane', 'status', 'reason', 'dialect', 'engine', 'model', 'mode', 'compatibility', 'negotiation', 'emulations'],
  ...['fidelity', 'request', 'upstream_request', 'response', 'event_count', 'usage', 'tool_calls', 'artifacts', 'workspace_delta'],
]);
/** Parts of them that it leaves out. */
const INCIDENTAL = /^model\.requested$|^tool_calls\[\d+\]\.id$/;

export function diffReceipts(before: JsonObject, after: JsonObject): ReceiptDiff {
  const changes = changesOf(before, after, '');
  const isContent = ({ path }: Change): boolean => CONTENT.has(path.split(/[.[]/)[0] ?? '') && !INCIDENTAL.test(path);
  return {
    same: before.receipt_sha256 === after.receipt_sha256 && typeof before.receipt_sha256 === 'string',
    content: changes.filter(isContent),
    incidental: changes.filter((change) => !isContent(change)),
  };
}

function changesOf(before: Json | undefined, after: Json | undefined, path: string): Change[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === undefined || now === undefined) return before === after ? [] : [{ path, before, after }];
  const isList = Array.isArray(before);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    changesOf(old.get(name), now.get(name), isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`),
  );
}

function membersOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item: Json, at: number) => [String(at), item]));
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}
