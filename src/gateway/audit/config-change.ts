import { createHmac } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { maskSecrets } from '../../base/redact.ts';
import { getSetting, setSetting } from '../../store/settings.ts';
import type { Gateway } from '../gateway.ts';
import { SYSTEM } from './audit-log.ts';

/**
 * Names of values that are secrets or hold one, beside those that every view of the configuration masks. Of both only a keyed digest is kept, so
 * that a change is noticed and nothing is told.
 */
const SECRET = /(^|[._])(key|search_key|secret|token|password|headers|url|webhooks|head_webhook|env|redact)(\.|$)/i;
const MOST_NAMED = 100;
const DIGEST_DIGITS = 16;

/**
 * Notes in the audit log that a server runs with another configuration than before, since its start or a reload: files are changed where no server sees it. The
 * names of the values that differ are told, and the values where they are no secrets.
 */
export async function noteConfigChange({
  config,
  store,
  home,
  audit,
}: Pick<Gateway, 'config' | 'store' | 'home' | 'audit'>): Promise<void> {
  const name = `audit.config.${home.nodeId}`;
  const parsed = parseJson(JSON.stringify(config));
  const now = told(parsed.ok ? parsed.value : null, home.token);
  const kept = await getSetting(store, name);
  const { before, lists } = isJsonObject(kept) ? withoutLists(kept) : { before: undefined, lists: [] };
  if (before !== undefined) {
    const differ = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]);
    const paths = differ.filter((path) => !lists.some((list) => path.startsWith(`${list}.`))).sort();
    const changes = paths.slice(0, MOST_NAMED).map((path) => ({ path, before: before[path] ?? null, after: now[path] ?? null }));
    if (paths.length > 0) await audit.note(SYSTEM, { action: 'config.change', details: { count: paths.length, changes } });
    if (differ.length === 0 && lists.length === 0) return;
  }
  await setSetting(store, name, now);
}

/** Lists were kept as one text once, with the keys that stood in them: these are taken out, and nothing is said of them the first time. */
function withoutLists(kept: JsonObject): { readonly before: JsonObject; readonly lists: readonly string[] } {
  const isList = (text: Json | undefined): boolean => typeof text === 'string' && text.startsWith('[') && text !== '[]';
  const lists = Object.keys(kept).filter((path) => isList(kept[path]));
  return { before: Object.fromEntries(Object.entries(kept).filter(([path]) => !lists.includes(path))), lists };
}

/** Every value with its path, as text; of a secret its digest. */
function told(config: Json, token: string): JsonObject {
  const shown = new Map(leaves(maskSecrets(config), ''));
  const text = (path: string, value: string): string => (SECRET.test(path) || shown.get(path) !== value ? keyed(value, token) : value);
  return Object.fromEntries(leaves(config, '').map(([path, value]) => [path, text(path, value)]));
}

function* leaves(value: Json, path: string): Generator<readonly [string, string]> {
  if (!isJsonObject(value) && !(Array.isArray(value) && value.length > 0)) {
    yield [path, JSON.stringify(value)];
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) yield* leaves(member, path === '' ? name : `${path}.${name}`);
  }
}

function keyed(text: string, token: string): string {
  return `(${createHmac('sha256', token).update(text).digest('hex').slice(0, DIGEST_DIGITS)})`;
}
