import type { IncomingHttpHeaders } from 'node:http';
import { globMatch } from '../../base/glob.ts';
import type { CallOwner } from '../../calls/call.ts';
import { AbpError } from '../../contract/errors.ts';
import { ownerOf, type Principal } from '../auth/principal.ts';

const MOST_TAGS = 10;
const TAG = /^[\w.:/@+-]{1,64}$/;

/** The owner of a call, with the tags that the call itself brings (`X-ABP-Tags: team-blue, nightly`). */
export function taggedOwner(headers: IncomingHttpHeaders, principal: Principal): CallOwner {
  const owner = ownerOf(principal);
  const given = headers['x-abp-tags'];
  if (given === undefined) return owner;
  const added = tagsIn(Array.isArray(given) ? given.join(',') : given);
  assertMayTag(owner, added);
  return { ...owner, tags: [...new Set([...owner.tags, ...added])] };
}

/** Throws where the key of an owner may not bring these tags: budgets and sums of usage go by them. */
export function assertMayTag({ scopes }: Pick<CallOwner, 'scopes'>, added: readonly string[]): void {
  const allowed = scopes?.admin === true ? undefined : scopes?.tags;
  const refused = allowed === undefined ? undefined : added.find((tag) => !allowed.some((pattern) => globMatch(pattern, tag)));
  if (refused !== undefined)
    throw new AbpError('forbidden', `This key may not tag its calls with "${refused}".`, { scope: 'tags', allowed: [...(allowed ?? [])] });
}

/** Tags with commas between them. */
function tagsIn(text: string): string[] {
  const tags = text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  if (tags.length > MOST_TAGS) throw new AbpError('invalid_request', `X-ABP-Tags holds ${tags.length} tags; ${MOST_TAGS} are the most.`);
  const wrong = tags.find((tag) => !TAG.test(tag));
  if (wrong !== undefined)
    throw new AbpError('invalid_request', 'A tag in X-ABP-Tags has up to 64 letters, digits and . : / @ + - _', {
      tag: wrong.slice(0, 80),
    });
  return tags;
}
