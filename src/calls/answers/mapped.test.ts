import { expect, it } from 'vitest';
import { newRunId } from '../../contract/run-id.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { sim } from '../../engines/sim/engine.ts';
import { AnswerChanges } from '../../mapping/answer-changes.ts';
import type { Fact } from '../../receipts/journal/facts.ts';
import type { Exchange, ExchangeSink } from '../../upstream/exchange.ts';
import { Admission, EngineDoor } from '../admission.ts';
import { Batch } from '../batch.ts';
import { BodyBudget } from '../bounds/body-budget.ts';
import { LiveRuns } from '../live-runs.ts';
import { Recorder } from '../recorder.ts';
import { callMapped } from './mapped.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function dialect(id: string): Dialect {
  const found = findDialect(id);
  if (found === undefined) throw new Error(`there is no dialect ${id}`);
  return found;
}

const delta = (content: string): Buffer =>
  Buffer.from(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`);

interface Stage {
  readonly sink: ExchangeSink;
  readonly call: Exchange;
  /** What reached the caller and what became of the call, in order. */
  readonly said: string[];
  readonly facts: Fact[];
}

/** A Claude caller on an engine of Chat Completions; both ends are here. `log` may be shared, to see an order. */
function stage({ engine = dialect('openai-chat'), log = [], flowing = () => true, streamed = true, batch }: Setting = {}): Stage {
  const facts: Fact[] = [];
  let sink: ExchangeSink | undefined;
  const recorders = {
    sink: { append: (fact: Fact) => void facts.push(fact) },
    batch: batch ?? new Batch({ gather: () => undefined, flush: () => undefined }),
    live: new LiveRuns(),
  };
  const request = { method: 'POST', origin: '', path: '/', headers: [], body: null, silenceMs: 1000, runHex: '0'.repeat(32) };
  const door = new EngineDoor({
    transport: (_request, given) => {
      sink = given;
      return { abort: () => void log.push('engine aborted'), resume: () => void log.push('engine resumed') };
    },
  });
  const runId = newRunId();
  const recorder = new Recorder(recorders, runId);
  const owner = { keyId: null, parent: null, tags: [] };
  const wanted = { runId, way: 'mapped', owner, engine: 'sim', model: 'm', dialect: 'claude', mode: 'mapped' } as const;
  const call = callMapped(request, {
    admitted: recorder.admit(new Admission(), wanted, door),
    deployment: { engine: sim, origin: '', basePath: '', auth: 'none', silenceMs: 1000, door },
    translation: {
      engine,
      caller: dialect('claude'),
      filter: new AnswerChanges([]),
      context: { runHex: '0'.repeat(32), createdAtMs: 0, model: 'm', includeUsage: false, query: '' },
    },
    judge: async ({ said }) => ({ json: said }),
    aside: async () => ({ text: Buffer.alloc(0), observed: { toolCalls: [] }, record: { fidelity: [], emulations: [] } }),
    streamed,
    holding: new BodyBudget(1024 * 1024).holding('key'),
    answer: {
      from: () => undefined,
      head: (status) => void log.push(`head ${status}`),
      write: (chunk) => {
        log.push(...(String(chunk).match(/(?<="(?:text|message)":")[^"]+/g) ?? []));
        return flowing();
      },
      end: () => void log.push('end'),
      refuse: ({ code }) => void log.push(`refused: ${code}`),
      abandon: () => void log.push('abandoned'),
    },
    recorder,
    onFault: (error) => void log.push(`fault: ${String(error)}`),
    onTaken: () => undefined,
  });
  if (sink === undefined) throw new Error('the engine was not called');
  sink.head(200, ['content-type', streamed ? 'text/event-stream' : 'application/json']);
  return { sink, call, said: log, facts };
}

interface Setting {
  readonly engine?: Dialect;
  readonly log?: string[];
  readonly flowing?: () => boolean;
  readonly streamed?: boolean;
  readonly batch?: Batch;
}

it('passes the first chunk on at once, and later ones of all calls when the turn of the event loop ends', async () => {
  const log: string[] = [];
  const [one, two] = [stage({ log }), stage({ log })];
  one.sink.data(delta('a1'));
  two.sink.data(delta('b1'));
  expect(log).toEqual(['head 200', 'head 200', 'a1', 'b1']);
  one.sink.data(delta('a2'));
  two.sink.data(delta('b2'));
  one.sink.data(delta('a3'));
  expect(log.slice(4)).toEqual([]);
  await turn();
  expect(log.slice(4)).toEqual(['a2', 'a3', 'b2']);
});

it('passes on what has come before it ends the answer, and before it breaks it off', async () => {
  const [ended, broken] = [stage(), stage()];
  for (const { sink } of [ended, broken]) {
    sink.data(delta('one'));
    sink.data(delta('two'));
  }
  ended.sink.end([]);
  broken.sink.fail({ kind: 'broken', message: 'gone' });
  expect(ended.said).toEqual(['head 200', 'one', 'two', 'the engine closed the stream early', 'end']);
  expect(broken.said).toEqual(['head 200', 'one', 'two', 'abandoned']);
  await turn();
  expect([ended.said.length, broken.said.length]).toEqual([5, 4]);
});

it('lets the engine pause while the caller does not keep up', async () => {
  let flowing = true;
  const { sink, call, said } = stage({ flowing: () => flowing });
  expect(sink.data(delta('one'))).toBe(true);
  flowing = false;
  sink.data(delta('two'));
  await turn();
  expect(sink.data(delta('three'))).toBe(false);
  await turn();
  flowing = true;
  call.resume();
  expect(sink.data(delta('four'))).toBe(true);
  await turn();
  expect(said).toEqual(['head 200', 'one', 'two', 'three', 'engine resumed', 'four']);
});

it('ends the answer with an error, and nothing else, when a chunk cannot be translated', async () => {
  const chat = dialect('openai-chat');
  let steps = 0;
  const engine: Dialect = {
    ...chat,
    stepper: () => {
      const stepper = chat.stepper();
      return {
        end: () => stepper.end(),
        step: (event) => {
          steps += 1;
          if (steps === 2) throw new TypeError('no such thing');
          return stepper.step(event);
        },
      };
    },
  };
  const { sink, said, facts } = stage({ engine });
  sink.data(delta('one'));
  sink.data(delta('two'));
  await turn();
  sink.fail({ kind: 'aborted', message: 'let go' });
  const message = "The engine's answer cannot be translated: no such thing";
  expect(said).toEqual(['head 200', 'one', message, 'end', 'engine aborted']);
  expect(facts).toMatchObject([{ fact: 'close', status: 'failed', reason: 'engine_error', error: { message } }]);
});

const ANSWER = Buffer.from(
  '{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"all"},"finish_reason":"stop"}]}',
);

it('sends whole answers of a turn of the event loop after one write of their ends to the journal', async () => {
  const log: string[] = [];
  const batch = new Batch({ gather: () => void log.push('gathers'), flush: () => void log.push('writes') });
  const calls = [stage({ log, batch, streamed: false }), stage({ log, batch, streamed: false })];
  for (const { sink } of calls) {
    sink.data(ANSWER);
    sink.end([]);
  }
  expect(log).toEqual([]);
  await turn();
  expect(log).toEqual(['gathers', 'writes', 'head 200', 'end', 'head 200', 'end']);
  expect(calls.flatMap(({ facts }) => facts)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
});

it('tells a fault, and breaks the answer off, where its end cannot be written', async () => {
  const batch = new Batch({
    gather: () => undefined,
    flush: () => {
      throw new Error('no room');
    },
  });
  const { sink, said } = stage({ batch, streamed: false });
  sink.data(ANSWER);
  sink.end([]);
  await turn();
  expect(said).toEqual(['fault: Error: no room', 'abandoned']);
});
