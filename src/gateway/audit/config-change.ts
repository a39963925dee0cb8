import { createHmac } from 'node:crypto';
import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { getSetting, setSetting } from '../../store/settings.ts';
import type { Gateway } from '../gateway.ts';
import { SYSTEM } from './audit-log.ts';

/** Names of values that are secrets or hold one. Of these only a keyed digest is kept, so that a change is noticed and nothing is told. */
const SECRET = /(^|[._])(key|search_key|secret|token|password|headers|url|webhooks|head_webhook|env)(\.|$)/i;
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
  const now = Object.fromEntries(leaves(parsed.ok ? parsed.value : null, '', (text) => keyed(text, home.token)));
  const before = await getSetting(store, name);
  if (before !== undefined && isJsonObject(before)) {
    const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]).sort();
    if (paths.length === 0) return;
    const changes = paths.slice(0, MOST_NAMED).map((path) => ({ path, before: before[path] ?? null, after: now[path] ?? null }));
    await audit.note(SYSTEM, { action: 'config.change', details: { count: paths.length, changes } });
  }
  await setSetting(store, name, now);
}

/** Every value with its path, as text. */
function* leaves(value: Json, path: string, hide: (text: string) => string): Generator<readonly [string, string]> {
  if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) yield* leaves(member, path === '' ? name : `${path}.${name}`, hide);
    }
    return;
  }
  const text = JSON.stringify(value);
  yield [path, SECRET.test(path) ? hide(text) : text];
}

function keyed(text: string, token: string): string {
  return `(${createHmac('sha256', token).update(text).digest('hex').slice(0, DIGEST_DIGITS)})`;
}
