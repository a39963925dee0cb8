import type { BodyShelf } from '../../store/recordings/body-shelf.ts';
import type { RecordedAnswer, RecordedRequest, Recording } from '../../store/recordings/recording.ts';
import { chunksOf } from '../../store/recordings/recording-line.ts';
import { findRecordings, recentRecordings } from '../../store/recordings/recordings.ts';
import type { Inside } from '../engine.ts';
import type { Ask, Candidate, Source } from './source.ts';

/** Runs that were themselves replayed are no source: they would hide the recording they came from. */
const ITSELF = 'replay';

/** The recordings of this home, each caller's own. */
export function homeSource({ store, shelf, node, settled }: Pick<Inside, 'store' | 'shelf' | 'node' | 'settled'>): Source {
  const owner = (ask: Ask): { node: string; keyId: string | null } => ({ node, keyId: ask.keyId });
  const sides = (recordings: readonly Recording[], ask: Ask): Candidate[] =>
    recordings.filter(({ engine }) => engine !== ITSELF).flatMap((recording) => candidates(shelf, recording, ask.dialect));
  return {
    name: 'the recordings of this home',
    refresh: settled,
    exact: async (ask) => sides(await findRecordings(store, shelf, owner(ask), ask.sha256), ask),
    recent: async (ask, limit) => sides(await recentRecordings(store, owner(ask), ask.dialect, limit), ask),
  };
}

/** The caller's side of a run and, where it was mapped, the engine's side: each with the answer that belongs to it. */
function candidates(shelf: BodyShelf, recording: Recording, dialect: string): Candidate[] {
  const { request, sent, response, delivered } = recording;
  const sides: [RecordedRequest, RecordedAnswer | null][] = [
    [request, delivered ?? response],
    ...(sent === null ? [] : [[sent, response] as [RecordedRequest, RecordedAnswer | null]]),
  ];
  return sides.filter(([side]) => side.dialect === dialect).map(([side, answer]) => candidate(shelf, recording, side, answer));
}

function candidate(shelf: BodyShelf, recording: Recording, request: RecordedRequest, answer: RecordedAnswer | null): Candidate {
  const { runId, startedAt } = recording;
  return {
    runId,
    startedAt,
    method: request.method,
    path: request.path,
    obstacle: obstacleOf(recording, answer),
    request: async () => {
      const bytes = await shelf.read(request.body);
      return bytes === undefined ? undefined : { bytes, headers: request.headers };
    },
    play: async () => {
      const chunks = answer === null ? undefined : await chunksOf(shelf, answer);
      if (answer === null || chunks === undefined) return undefined;
      const { status, headers, trailers, headUs } = answer;
      return { status, headers, trailers, headUs, chunks };
    },
  };
}

export function obstacleOf(recording: Pick<Recording, 'redacted'>, answer: { readonly complete: boolean } | null): string | undefined {
  if (recording.redacted) return 'a secret was removed from it';
  if (answer === null) return 'it got no answer';
  return answer.complete ? undefined : 'its answer did not come to an end';
}
