import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { lineDiff } from '../../base/line-diff.ts';
import { parseAt } from '../../contract/border.ts';
import { type AnswerText, RecordingLine } from '../../contract/receipts/recording.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { chooseEngine, engines, findEngine } from '../../engines/index.ts';
import { bytesOf } from '../../store/recordings/recording-line.ts';
import { CliError } from '../failure.ts';
import { answerText } from './answer-text.ts';
import type { HomeServer, RawAnswer } from './home-server.ts';

const WAIT_S = 30;

/** Members by which two receipts are compared: what the runs did. Ids, times, keys and prices play no part. */
const COMPARED = [
  'status',
  'reason',
  'dialect',
  'engine',
  'model',
  'mode',
  'negotiation',
  'emulations',
  'fidelity',
  'request',
  'upstream_request',
  'response',
  'event_count',
  'usage',
  'tool_calls',
] as const;

/** A line of a comparison: in both texts, only in the first, or only in the second. */
interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** A run and the same request made again. */
export interface Rerun {
  readonly runId: string;
  readonly engine: string;
  readonly againRunId: string;
  readonly againEngine: string;
  /** Both receipts have the same hash: the runs did the same. */
  readonly same: boolean;
  /** Both answers say the same, whatever else differs. */
  readonly sameAnswer: boolean;
  readonly differs: readonly { readonly part: string; readonly before: Json; readonly after: Json }[];
  readonly answer: readonly DiffLine[];
}

export interface RerunOptions {
  readonly run: string;
  readonly engine: string | undefined;
  /** The caller's own key, for an engine that has none of ours. */
  readonly key: string | undefined;
}

/** Sends a recorded request again and compares what came of it. */
export async function rerun(server: HomeServer, { run, engine: wanted, key }: RerunOptions): Promise<Rerun> {
  const line = parseAt(RecordingLine, await server.client.call('GET', `/v1/recordings/${encodeURIComponent(run)}`), 'the recording');
  assertSendable(line);
  assertEngine(wanted);
  const dialect = findDialect(line.request.dialect ?? '');
  const engine = wanted ?? line.engine ?? '';
  const answer = await server.send({
    method: line.request.method === 'GET' ? 'GET' : 'POST',
    path: `/e/${encodeURIComponent(engine)}${dialect?.prefix ?? ''}${line.request.path}`,
    headers: [...line.request.headers.flat(), ...credential(engine, key)],
    body: bytesOf(line.request.body),
  });
  const again = headerIn(answer.headers, 'x-abp-run-id');
  const receipts = [await receiptOf(server, line.run_id), await receiptOf(server, again)] as const;
  const texts = [originalText(dialect, line), againText(dialect, answer)] as const;
  const differs = COMPARED.flatMap((part) => difference(part, ...receipts));
  return {
    runId: line.run_id,
    engine: line.engine ?? '',
    againRunId: again,
    againEngine: engine,
    same: receipts[0].receipt_sha256 === receipts[1].receipt_sha256,
    sameAnswer: texts[0] === texts[1],
    differs,
    answer: texts[0] === texts[1] ? [] : diffLines(...texts),
  };
}

const SIGNS = { equal: ' ', removed: '-', added: '+' } as const;

function diffLines(before: string, after: string): DiffLine[] {
  const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'));
  return lineDiff(linesOf(before), linesOf(after)).flatMap(({ kind, lines }) => lines.map((text) => ({ sign: SIGNS[kind], text })));
}

function assertSendable(line: RecordingLine): void {
  if (!line.redacted) return;
  throw new CliError('not_found', `a secret was removed from what is recorded of ${line.run_id}, so it cannot be sent again`, {
    hint: 'Send the request yourself, without the secret in its body.',
  });
}

/** An unknown engine would be refused like any answer, and a refusal is nothing to compare. */
function assertEngine(name: string | undefined): void {
  if (name === undefined || chooseEngine(name) !== undefined) return;
  throw new CliError('not_found', `there is no engine "${name}"`, { hint: `Known are ${engines.map(({ id }) => id).join(', ')}.` });
}

async function receiptOf(server: HomeServer, run: string): Promise<JsonObject> {
  const receipt = await server.client.call('GET', `/v1/receipts/${run}?wait=${WAIT_S}`);
  return isJsonObject(receipt) ? receipt : {};
}

function headerIn(headers: readonly string[], wanted: string): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === wanted);
  return at === -1 ? '' : (headers[at + 1] ?? '');
}

function credential(engine: string, key: string | undefined): string[] {
  const auth = findEngine(engine.split(':')[0] ?? '')?.auth;
  return key === undefined || auth === undefined ? [] : [auth.header, `${auth.prefix}${key}`];
}

function difference(part: string, before: JsonObject, after: JsonObject): Rerun['differs'] {
  const [a, b] = [before[part] ?? null, after[part] ?? null];
  return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ part, before: a, after: b }];
}

function originalText(dialect: Dialect | undefined, { delivered, response }: RecordingLine): string {
  const answer: AnswerText | null = delivered ?? response;
  return answer === null ? '' : answerText(dialect, answer.headers.flat(), Buffer.concat(answer.chunks.map(bytesOf)));
}

function againText(dialect: Dialect | undefined, { headers, body }: RawAnswer): string {
  return answerText(dialect, headers, body);
}
