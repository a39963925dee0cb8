import type { IncomingMessage } from 'node:http';
import { chooseEngine } from '../../engines/index.ts';
import { readerOf } from './marks.ts';

const LISTS: readonly string[] = ['/v1/models', '/v1beta/models'];
/** A model of a list; what follows a colon is asked of the model. */
const MODEL = /^\/v1(?:beta)?\/models\/[^/:]+$/;

/** Where our own list learns which engine the path pinned. */
export const PINNED = 'x-abp-engine';

export function isModelList(path: string): boolean {
  return LISTS.includes(path);
}

/**
 * Whether we list the models of a pinned engine ourselves: an engine inside this process has no other list, and the list of a vendor
 * is of no use to an SDK that looks for the models under another name than this vendor writes them. Only Google's differs there.
 */
export function isOwnList(engine: string, request: IncomingMessage, path: string): boolean {
  if (request.method !== 'GET' || !(isModelList(path) || MODEL.test(path))) return false;
  const chosen = chooseEngine(engine)?.engine;
  if (chosen === undefined) return false;
  if (chosen.transport !== undefined) return true;
  if (chosen.prices === undefined) return false;
  const google = path.startsWith('/v1beta/') || isGoogles(request);
  return google !== chosen.dialects.includes('gemini');
}

/** Google's own SDK says who it is; a key in the address is Google's way, too. */
function isGoogles({ headers, url = '' }: IncomingMessage): boolean {
  return readerOf(headers, undefined)?.id === 'gemini' || /[?&]key=/.test(url);
}
