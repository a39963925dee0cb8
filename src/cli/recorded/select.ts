import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { list, optional } from '../parameter.ts';
import type { HomeServer } from './home-server.ts';

/** Options that say which recordings are meant. */
export const SELECTION = {
  run: list('--run <run-id>', 'a run; repeatable'),
  key: optional('--key <id>', 'those of a key'),
  tag: optional('--tag <tag>', 'those with a tag'),
  engine: optional('--engine <engine>', 'those of an engine'),
} as const;

export interface Selection {
  readonly key: string | undefined;
  readonly tag: string | undefined;
  readonly engine: string | undefined;
}

/** The query of a selection. */
export function queryOf({ key, tag, engine }: Selection, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(more);
  for (const [name, value] of Object.entries({ key, tag, engine })) if (value !== undefined) query.set(name, value);
  return query.toString();
}

/** Ids of the selected runs, newest first, page by page. */
export async function* selectedRuns(server: HomeServer, selection: Selection): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const query = queryOf(selection, { limit: '1000', ...(cursor === undefined ? {} : { cursor }) });
    const page = await server.client.call('GET', `/v1/recordings?${query}`);
    for (const item of itemsOf(page)) yield String(item.run_id);
    cursor = isJsonObject(page) && typeof page.next_cursor === 'string' ? page.next_cursor : undefined;
  } while (cursor !== undefined);
}

export function itemsOf(page: Json): JsonObject[] {
  return isJsonObject(page) && Array.isArray(page.items) ? page.items.filter(isJsonObject) : [];
}
