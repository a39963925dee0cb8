import { parseJson } from '../../base/json.ts';
import { SseFrames } from '../../base/sse.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Dialect, Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { messageText } from '../../ir/conversation.ts';
import { Ledger } from '../../ir/ledger.ts';
import type { BodyShelf } from '../../store/recordings/body-shelf.ts';
import type { RecordedAnswer, RecordedRequest, Recording } from '../../store/recordings/recording.ts';
import { getRecording } from '../../store/recordings/recordings.ts';
import type { Store } from '../../store/store.ts';
import { firstLine, NO_WORDS, type Words } from './words.ts';

/** Longer bodies are not read for a report: this thread serves calls. */
const MOST_READ = 1024 * 1024;

/** Words of a call, from its recorded bodies. */
export async function wordsOfCall(store: Store, shelf: Pick<BodyShelf, 'read'>, run: RunId): Promise<Words> {
  const recording = await getRecording(store, run);
  if (recording === undefined) return NO_WORDS;
  return { ...NO_WORDS, prompt: await promptOf(shelf, recording.request), calls: await callsOf(shelf, recording) };
}

async function textOf(shelf: Pick<BodyShelf, 'read'>, part: RecordedRequest | RecordedAnswer): Promise<string | undefined> {
  const packed = part.headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-encoding');
  if (packed || part.body.bytes > MOST_READ) return undefined;
  return (await shelf.read(part.body))?.toString('utf8');
}

/** The last thing that the user said. */
async function promptOf(shelf: Pick<BodyShelf, 'read'>, request: RecordedRequest): Promise<string | null> {
  const dialect = findDialect(request.dialect ?? '');
  const parsed = parseJson((await textOf(shelf, request)) ?? '');
  if (dialect === undefined || !parsed.ok) return null;
  try {
    const { messages } = dialect.liftRequest(parsed.value, { ledger: new Ledger({ kept: false }), model: '' });
    const texts = messages.filter(({ role }) => role === 'user').map(messageText);
    return firstLine(texts.findLast((text) => text.trim() !== '') ?? '');
  } catch {
    // A token count, an embedding or a request that the engine refused has no conversation.
    return null;
  }
}

async function callsOf(shelf: Pick<BodyShelf, 'read'>, { request, sent, response, delivered }: Recording): Promise<Words['calls']> {
  const answer = delivered ?? response;
  const dialect = findDialect((delivered === null ? sent?.dialect : undefined) ?? request.dialect ?? '');
  const text = answer === null ? undefined : await textOf(shelf, answer);
  if (dialect === undefined || answer === null || text === undefined) return [];
  const { toolCalls } = observed(dialect, answer.headers, text);
  return toolCalls.map((call) => ({ id: call.id ?? null, name: call.name, arguments: call.arguments }));
}

function observed(dialect: Dialect, headers: readonly string[], text: string): Pick<Observed, 'toolCalls'> {
  try {
    if (!headers.some((item) => item.toLowerCase().startsWith('text/event-stream'))) return dialect.observeBody(text);
    const [frames, observer] = [new SseFrames(), dialect.observeStream()];
    for (const frame of [...frames.push(Buffer.from(text)), ...frames.flush()]) observer.frame(frame);
    return observer.done();
  } catch {
    // An error page under a good status is no answer of the dialect.
    return { toolCalls: [] };
  }
}
