import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseJson } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { type AnswerText, RecordingLine, type RequestText } from '../../contract/receipts/recording.ts';
import { bytesOf } from '../../store/recordings/recording-line.ts';
import { obstacleOf } from './home-source.ts';
import { type Ask, type Candidate, type Source, sameAddress } from './source.ts';

interface Entry {
  readonly sha256: string;
  readonly dialect: string | null;
  readonly candidate: Candidate;
}

export interface FileOptions {
  /** Equal requests get their answers in the order of the file, the last one ever after; otherwise always the last one. */
  readonly sequence?: boolean;
}

/** The recordings of a file. It is read once, at the first call. */
export function fileSource(file: string, { sequence = false }: FileOptions = {}): Source {
  let entries: Promise<readonly Entry[]> | undefined;
  const asked = new Map<string, number>();
  /** The answer whose turn it is, out of those to one request, newest first. */
  const inTurn = (ask: Ask, candidates: readonly Candidate[]): readonly Candidate[] => {
    const playable = candidates.filter((candidate) => candidate.obstacle === undefined && sameAddress(candidate, ask));
    const request = [ask.dialect, ask.method, ask.path, ask.sha256].join(' ');
    const times = asked.get(request) ?? 0;
    if (playable.length > 0) asked.set(request, times + 1);
    return playable.slice(Math.max(playable.length - 1 - times, 0));
  };
  const found = async (ask: Ask, matches: (entry: Entry) => boolean): Promise<Candidate[]> => {
    entries ??= read(file);
    const all = await entries;
    return all.filter((entry) => entry.dialect === ask.dialect && matches(entry)).map(({ candidate }) => candidate);
  };
  return {
    name: `the recordings of ${file}`,
    exact: async (ask) => {
      const same = await found(ask, ({ sha256 }) => sha256 === ask.sha256);
      return sequence ? inTurn(ask, same) : same;
    },
    recent: async (ask, limit) => (await found(ask, () => true)).slice(0, limit),
  };
}

/** Newest first, which in a file is last first: a line that was appended replaces earlier ones. */
async function read(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AbpError('E007', `The file of recordings cannot be read: ${reason}`, { backend_id: 'engine:replay', reason });
  });
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [lineOf(line, `${file}, line ${at + 1}`)]));
  return lines.reverse().flatMap(entriesOf);
}

function lineOf(text: string, where: string): RecordingLine {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new AbpError('invalid_request', `${where} is not JSON: ${parsed.message}`);
  return parseAt(RecordingLine, parsed.value, where);
}

function entriesOf(line: RecordingLine): Entry[] {
  const { request, sent, response, delivered } = line;
  const caller = entryOf(line, request, delivered ?? response);
  return sent === null ? [caller] : [caller, entryOf(line, sent, response)];
}

function entryOf(line: RecordingLine, request: RequestText, answer: AnswerText | null): Entry {
  const body = bytesOf(request.body);
  return {
    sha256: createHash('sha256').update(body).digest('hex'),
    dialect: request.dialect,
    candidate: {
      runId: line.run_id,
      startedAt: Date.parse(line.started_at),
      method: request.method,
      path: request.path,
      obstacle: obstacleOf(line, answer),
      request: async () => ({ bytes: body, headers: request.headers.flat() }),
      play: async () =>
        answer === null
          ? undefined
          : {
              status: answer.status,
              headers: answer.headers.flat(),
              trailers: answer.trailers.flat(),
              headUs: answer.at_us,
              chunks: answer.chunks.map((chunk) => ({ bytes: bytesOf(chunk), atUs: chunk.at_us })),
            },
    },
  };
}
