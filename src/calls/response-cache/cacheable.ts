import { canonicalJson, hasCanonicalForm, sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { CacheTerms } from '../../contract/cache-terms.ts';
import { requestIn } from '../../mapping/request-text.ts';
import type { Route } from '../../mapping/route.ts';
import { headerOf, joinedHeader } from '../headers.ts';
import type { Read, VendorCall } from '../vendor/vendor-call.ts';

/** The place of an answer in the cache. */
export interface CachePlace {
  /** SHA-256 of everything that decides what the answer is. */
  readonly key: string;
  readonly ttlMs: number;
}

/** Larger requests are not looked up: reading them would keep others waiting. */
const MOST_BYTES = 256 * 1024;
const MOST_VALUES = 5000;

/** Members by which a request lets somebody act, or goes on with state that the vendor keeps: its answer is never given twice. */
const ACTING = ['tools', 'functions', 'mcp_servers', 'plugins', 'web_search_options', 'container', 'background'].concat(
  'previous_response_id',
  'conversation',
);

/**
 * Where the answer of a call is kept, by its request in canonical form, its engine and the caller's wishes; undefined where it must not be kept:
 * nobody asked for it, a coding agent calls, something in the request acts, or the request is too large or too unclear to be compared.
 */
export function cachePlace(call: VendorCall, { text, scan }: Read, route: Route): CachePlace | undefined {
  const terms = route.row?.cache ?? call.options.cache;
  if (terms === undefined || call.options.mayEdit || text.length > MOST_BYTES || scan.values > MOST_VALUES) return undefined;
  const body = requestIn(text, scan.values);
  // A body that two readers could read in two ways, or that has no canonical form, is equal to no other.
  if (body === undefined || !isJsonObject(body) || !hasCanonicalForm(body) || acts(body)) return undefined;
  return { key: sha256(canonicalJson(identity(call, body, route, terms))), ttlMs: terms.ttl_s * 1000 };
}

function acts(body: JsonObject): boolean {
  // A stored prompt may have tools of its own, and become another one.
  return isJsonObject(body.prompt) || ACTING.some((name) => isSet(body[name]));
}

function isSet(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false) return false;
  return Array.isArray(value) ? value.length > 0 : true;
}

/** Everything that decides what the answer is, and whose it is. */
function identity(
  { match, target, options, headers, owner, share }: VendorCall,
  body: JsonObject,
  route: Route,
  { shared }: CacheTerms,
): Json {
  const { compatibility, requirements, emulate, toolRules } = options;
  return {
    whose: shared ? null : [owner.keyId, share],
    caller: [match.dialect.id, match.path.operation, match.model ?? null, match.path.stream ?? null, target.query],
    engine: [route.engine.id, route.target.id, route.model, options.deployment ?? null],
    wishes: [compatibility, JSON.stringify(requirements), [...emulate, ...(route.row?.emulate ?? [])], JSON.stringify(toolRules)],
    // Bytes pass as they come, so a caller must be able to read how they are packed.
    headers: [
      headerOf(headers, 'accept-encoding') ?? null,
      ...[...(match.dialect.featureHeaders ?? []), ...(match.dialect.versionHeaders ?? [])].map(
        (name) => joinedHeader(headers, name) ?? null,
      ),
    ],
    body,
  };
}
