import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import { differencesOf, shapeOf } from './comparing.ts';
import { type Ask, type Candidate, type Playable, type Source, sameAddress } from './source.ts';

/** How far back a match that ignores something looks, and how many requests are compared to find the nearest. */
const LOOK_BACK = 500;
const COMPARED = 50;
/** Differences that a message names. */
const NAMED = 5;

/** The recorded answer to a call, and how it was found. */
export interface Match {
  readonly runId: string;
  /** `exact`, or `ignoring` and the pointers. */
  readonly label: string;
  readonly answer: Playable;
}

/** The newest recording of the same request; of one that differs only in what may differ, else; a miss is an error that helps. */
export async function match(source: Source, ask: Ask, ignoring: readonly string[]): Promise<Match> {
  const found = await look(source, ask, ignoring);
  if (found !== undefined) return found;
  await source.refresh?.();
  const later = source.refresh === undefined ? undefined : await look(source, ask, ignoring);
  if (later !== undefined) return later;
  throw await missOf(source, ask, ignoring);
}

async function look(source: Source, ask: Ask, ignoring: readonly string[]): Promise<Match | undefined> {
  const exact = await firstPlayable(await source.exact(ask), ask);
  if (exact !== undefined) return { ...exact, label: 'exact' };
  const alike = ignoring.length === 0 ? undefined : await firstPlayable(await alikeOf(source, ask, ignoring), ask);
  return alike === undefined ? undefined : { ...alike, label: `ignoring ${ignoring.join(' ')}` };
}

async function firstPlayable(candidates: readonly Candidate[], ask: Ask): Promise<Omit<Match, 'label'> | undefined> {
  for (const candidate of candidates) {
    if (candidate.obstacle !== undefined || !sameAddress(candidate, ask)) continue;
    const answer = await candidate.play();
    if (answer !== undefined) return { runId: candidate.runId, answer };
  }
  return undefined;
}

/** The newest recording that equals the request once the pointers are taken out of both. */
async function alikeOf(source: Source, ask: Ask, ignoring: readonly string[]): Promise<Candidate[]> {
  const caller = ask.keyId ?? '';
  const wanted = await shapeOf(ask.body, ignoring, caller);
  if (wanted === undefined) return [];
  for (const candidate of await source.recent(ask, LOOK_BACK)) {
    if (candidate.obstacle !== undefined || !sameAddress(candidate, ask)) continue;
    const body = await candidate.request();
    if (body !== undefined && (await shapeOf(body, ignoring, caller)) === wanted) return [candidate];
  }
  return [];
}

interface Near {
  readonly candidate: Candidate;
  readonly differs: readonly string[];
}

async function missOf(source: Source, ask: Ask, ignoring: readonly string[]): Promise<AbpError> {
  const near = await nearest(source, ask, ignoring);
  const begin = `No recording answers this request: ${source.name} have none with its digest`;
  const details = { request_sha256: ask.sha256, dialect: ask.dialect, ignoring: [...ignoring] };
  if (near === undefined) {
    return new AbpError('replay_miss', `${begin}, and none in the dialect ${ask.dialect} at all that this caller may see.`, details);
  }
  const { candidate, differs } = near;
  const named = differs.slice(0, NAMED);
  const more = differs.length > named.length ? ' and more' : '';
  const reason =
    named.length > 0 ? `differs in ${named.join(', ')}${more}` : `cannot be replayed: ${candidate.obstacle ?? 'its bodies are gone'}`;
  return new AbpError('replay_miss', `${begin}. The nearest, ${candidate.runId} of ${isoTime(candidate.startedAt)}, ${reason}.`, {
    ...details,
    nearest_run_id: candidate.runId,
    differs: [...differs],
  });
}

/** The recording with the fewest differences; of equals the newest. */
async function nearest(source: Source, ask: Ask, ignoring: readonly string[]): Promise<Near | undefined> {
  let best: Near | undefined;
  for (const candidate of await source.recent(ask, COMPARED)) {
    const body = await candidate.request();
    if (body === undefined) continue;
    const differs = [
      ...(sameAddress(candidate, ask) ? [] : [`the address ${candidate.method} ${candidate.path}`]),
      ...(await differencesOf([body, ask.body], { ignoring, most: (best?.differs.length ?? 100) + 1, caller: ask.keyId ?? '' })),
    ];
    if (best === undefined || differs.length < best.differs.length) best = { candidate, differs };
  }
  return best;
}
