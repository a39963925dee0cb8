import type { RecordingLine } from '../../api/types.ts';

/** One event of an answer; an answer that was not streamed is one. */
export interface AnswerEvent {
  /** Since the run began, when the last of it had come. */
  readonly atMs: number;
  readonly name: string;
  readonly data: string;
}

type Answer = NonNullable<RecordingLine['response']>;

const END = /\r\n\r\n|\n\n|\r\r/;

function bytesOf(chunk: Answer['chunks'][number]): Uint8Array {
  if ('text' in chunk) return new TextEncoder().encode(chunk.text);
  return Uint8Array.from(atob(chunk.base64), (char) => char.charCodeAt(0));
}

function isStream({ headers }: Answer): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'));
}

/** The name of an event, else what its data calls itself. */
function nameOf(named: string | undefined, data: string): string {
  return named ?? /^\{"(?:type|object)":"([\w.-]+)"/.exec(data)?.[1] ?? 'data';
}

/** An event of its lines; undefined of a comment. */
function eventOf(block: string, atMs: number): AnswerEvent | undefined {
  const lines = block.split(/\r\n|\n|\r/);
  const values = (field: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  const data = values('data');
  if (data.length === 0) return undefined;
  const text = data.join('\n');
  return { atMs, name: nameOf(values('event')[0], text), data: text };
}

/** The events of an answer, wherever its pieces were cut. */
export function eventsOf(answer: Answer | null): readonly AnswerEvent[] {
  if (answer === null) return [];
  const decoder = new TextDecoder();
  const found: AnswerEvent[] = [];
  let rest = '';
  let atMs = answer.at_us / 1000;
  const take = (block: string): void => {
    const event = eventOf(block, atMs);
    if (event !== undefined) found.push(event);
  };
  for (const chunk of answer.chunks) {
    atMs = chunk.at_us / 1000;
    rest += decoder.decode(bytesOf(chunk), { stream: true });
    if (!isStream(answer)) continue;
    const blocks = rest.split(END);
    rest = blocks.pop() ?? '';
    for (const block of blocks) take(block);
  }
  rest += decoder.decode();
  if (isStream(answer)) take(rest);
  else if (rest !== '') found.push({ atMs, name: 'body', data: rest });
  return found;
}
