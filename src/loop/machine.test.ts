import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../ir/usage.ts';
import { advance, advanceAll, endedBy, endingRecords, overBudget, type Step, standing, type TurnFrame } from './machine.ts';
import type { AskedCall, LoopSignal, ModelAnswer } from './signal.ts';
import { freshState, type TurnState } from './state.ts';

function frameOf(limits: Partial<TurnFrame['limits']> = {}): TurnFrame {
  let count = 0;
  return {
    turnId: 'turn_1',
    limits: { maxIterations: 10, costBefore: 0, ...limits },
    newId: (kind) => {
      count += 1;
      return `${kind}_${count}`;
    },
  };
}

function answer(changes: Partial<ModelAnswer> = {}): LoopSignal {
  return {
    kind: 'answered',
    answer: {
      parts: [{ kind: 'text', text: 'hi' }],
      calls: [],
      finish: 'stop',
      model: 'sim-1',
      engine: 'sim',
      usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2 },
      costNanoUsd: 5,
      priceVersion: 'prices 1',
      runId: 'run_1',
      readUpTo: 5,
      ms: 1,
      ...changes,
    },
  };
}

function asked(id: string, changes: Partial<AskedCall> = {}): AskedCall {
  return { id, name: 'add', arguments: '{}', effect: 'idempotent', needsApproval: false, ...changes };
}

const done = (id: string): LoopSignal => ({ kind: 'call-ended', id, end: { status: 'success', output: 1 }, ms: 1 });
const types = (step: Step): string[] => step.records.map(({ type }) => type);
const start = freshState('msg_0');

describe('a turn', () => {
  test('ends with the first answer that asks for nothing', () => {
    const step = advance(frameOf(), start, answer());
    expect(types(step)).toEqual(['llm.generation', 'output.message.completed', 'reason.completed', 'turn.completed', 'session.idled']);
    expect(step.commands).toEqual([]);
    expect(step.state).toMatchObject({ phase: 'ended', spent: { inputTokens: 3, outputTokens: 2, costNanoUsd: 5 } });
    expect(endedBy(step.records)).toBe('completed');
    expect(step.records.at(-2)?.data).toMatchObject({ final_message_id: start.messageId, finish_reason: 'stop' });
  });

  test('writes a call down before it is made, and asks the model again once every call has its result', () => {
    const frame = frameOf();
    const first = advance(frame, start, answer({ calls: [asked('call_a'), asked('call_b')] }));
    expect(types(first).slice(3)).toEqual(['act.started', 'tool.started', 'tool.started']);
    expect(first.commands.map((command) => command.kind)).toEqual(['run-call', 'run-call']);
    const second = advance(frame, first.state, done('call_b'));
    expect(types(second)).toEqual(['tool.completed']);
    expect(second.commands).toEqual([]);
    const third = advance(frame, second.state, done('call_a'));
    expect(types(third)).toEqual(['tool.completed', 'act.completed', 'reason.started', 'output.message.started']);
    expect(third.commands).toEqual([{ kind: 'call-model', delayMs: 0, attempt: 1 }]);
    expect(third.state).toMatchObject({ phase: 'model', iteration: 2, messageId: 'msg_1' });
  });

  test('keeps every call by digest, and why it failed', () => {
    const frame = frameOf({ maxIterations: 1 });
    const step = advanceAll(frame, start, [answer({ calls: [asked('call_a', { arguments: '{"n":1}' })] }), done('call_a')]);
    expect(step.state).toMatchObject({
      made: [
        {
          id: 'call_a',
          name: 'add',
          argumentsSha256: '2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd',
          // Of 1, which is what the call came to.
          resultSha256: '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
        },
      ],
      failure: { code: 'max_iterations', message: 'The turn has called the model once, which is its limit.' },
      spent: { inputTokens: 3, costNanoUsd: 5, priceVersion: 'prices 1' },
    });
  });

  test('takes only the first result of a call', () => {
    const frame = frameOf();
    const first = advance(frame, start, answer({ calls: [asked('call_a'), asked('call_b')] }));
    const second = advance(frame, first.state, done('call_a'));
    expect(types(advance(frame, second.state, done('call_a')))).toEqual([]);
    expect(types(advance(frame, second.state, done('call_unknown')))).toEqual([]);
  });

  test('goes on when a message came while the model was writing', () => {
    const frame = frameOf();
    const step = advanceAll(frame, start, [{ kind: 'message' }, answer()]);
    expect(types(step).slice(-2)).toEqual(['reason.started', 'output.message.started']);
    expect(step.state).toMatchObject({ phase: 'model', unseen: false });
    expect(endedBy(step.records)).toBeUndefined();
    const said = step.records.find(({ type }) => type === 'output.message.completed');
    expect(said?.data.read_up_to).toBe(5);
    const alone = advance(frame, start, answer()).records.find(({ type }) => type === 'output.message.completed');
    expect(alone?.data).not.toHaveProperty('read_up_to');
  });

  test('tries a failed model call again twice, later each time, and then fails', () => {
    const frame = frameOf();
    const failed: LoopSignal = { kind: 'model-failed', failure: { code: 'engine_failed', message: 'busy', retryable: true } };
    const one = advance(frame, start, failed);
    expect(one.commands).toEqual([{ kind: 'call-model', delayMs: 250, attempt: 2 }]);
    expect(types(one)).toEqual(['reason.retrying']);
    const two = advance(frame, one.state, { ...failed, failure: { ...failed.failure, retryAfterMs: 4000 } });
    expect(two.commands).toEqual([{ kind: 'call-model', delayMs: 4000, attempt: 3 }]);
    const three = advance(frame, two.state, failed);
    expect(types(three)).toEqual(['reason.completed', 'turn.failed', 'session.idled']);
    expect(three.records[1]?.data).toMatchObject({ error: 'busy', error_code: 'engine_failed' });
    expect(endedBy(three.records)).toBe('failed');
  });

  test('fails at once where trying again cannot help, unless somebody has written since', () => {
    const failed: LoopSignal = { kind: 'model-failed', failure: { code: 'E001', message: 'no', retryable: false } };
    expect(types(advance(frameOf(), start, failed))).toEqual(['reason.completed', 'turn.failed', 'session.idled']);
    const step = advanceAll(frameOf(), start, [{ kind: 'message' }, failed]);
    expect(types(step)).toEqual(['reason.completed', 'reason.started', 'output.message.started']);
  });

  test('stops at its limit of model calls', () => {
    const frame = frameOf({ maxIterations: 1 });
    const step = advanceAll(frame, start, [answer({ calls: [asked('call_a')] }), done('call_a')]);
    expect(step.records.find(({ type }) => type === 'turn.failed')?.data).toMatchObject({ error_code: 'max_iterations', iterations: 1 });
  });

  test('stops when the money of the turn or of the session is spent', () => {
    for (const limits of [{ maxTurnCost: 5 }, { maxSessionCost: 105, costBefore: 100 }]) {
      const step = advanceAll(frameOf(limits), start, [answer({ calls: [asked('call_a')] }), done('call_a')]);
      expect(step.records.find(({ type }) => type === 'turn.failed')?.data).toMatchObject({ error_code: 'budget_exhausted' });
    }
    expect(overBudget({ maxIterations: 1, maxTurnCost: 6, costBefore: 0 }, 5)).toBeUndefined();
  });
});

describe('a call that needs approval', () => {
  const frame = frameOf();
  const waiting = advance(frame, start, answer({ calls: [asked('call_a', { needsApproval: true })] }));

  test('is asked about and not made', () => {
    expect(types(waiting).slice(3)).toEqual(['act.started', 'approval.requested']);
    expect(waiting.commands).toEqual([]);
    expect(standing(waiting.state, undefined)).toBe('waiting');
    expect(waiting.records.at(-1)?.data).toEqual({
      approval_id: 'approval_1',
      reason: 'policy',
      tool_call: { id: 'call_a', name: 'add', arguments: '{}' },
    });
  });

  test('is made as it stands once it is approved', () => {
    const step = advance(frame, waiting.state, { kind: 'approval', approvalId: 'approval_1', approved: true });
    expect(types(step)).toEqual(['tool.started']);
    expect(step.commands).toMatchObject([{ kind: 'run-call', call: { id: 'call_a', stage: 'running', attempt: 1 } }]);
  });

  test('becomes a result that says so when it is denied', () => {
    const step = advance(frame, waiting.state, { kind: 'approval', approvalId: 'approval_1', approved: false, note: 'Ask me first.' });
    expect(step.records[0]).toMatchObject({
      type: 'tool.completed',
      data: { status: 'cancelled', error: 'The call was not approved. Ask me first.' },
    });
    expect(step.commands).toMatchObject([{ kind: 'call-model' }]);
  });

  test('does not keep other calls from running', () => {
    const both = advance(frameOf(), start, answer({ calls: [asked('call_a', { needsApproval: true }), asked('call_b')] }));
    expect(both.commands).toMatchObject([{ kind: 'run-call', call: { id: 'call_b' } }]);
    expect(standing(both.state, undefined)).toBe('running');
    const after = advance(frameOf(), both.state, done('call_b'));
    expect(types(after)).toEqual(['tool.completed']);
    expect(standing(after.state, undefined)).toBe('waiting');
  });
});

describe('a turn that is taken over', () => {
  const running = advance(
    frameOf(),
    start,
    answer({ calls: [asked('call_a'), asked('call_b', { effect: 'at_most_once' }), asked('call_c')] }),
  );
  const taken = advance(frameOf(), advance(frameOf(), running.state, done('call_c')).state, { kind: 'taken-over' });

  test('makes the model call again', () => {
    expect(advance(frameOf(), start, { kind: 'taken-over' })).toEqual({
      state: start,
      records: [],
      commands: [{ kind: 'call-model', delayMs: 0, attempt: 1 }],
    });
  });

  test('repeats a begun call of an idempotent tool under the same id, and no finished one', () => {
    expect(taken.commands).toMatchObject([{ kind: 'run-call', call: { id: 'call_a', attempt: 2 } }]);
  });

  test('asks about a begun call of any other tool instead of repeating it', () => {
    expect(taken.records.map(({ type, data }) => [type, data.reason])).toEqual([
      ['tool.started', undefined],
      ['approval.requested', 'interrupted'],
    ]);
    const denied = advance(frameOf(), taken.state, { kind: 'approval', approvalId: 'approval_1', approved: false });
    expect(denied.records[0]?.data.error).toBe(
      'The call was interrupted; whether it had an effect is not known, and it was not made again.',
    );
  });

  test('can be given up, and then every open call has its result', () => {
    const failure = { code: 'no_progress', message: 'stuck', retryable: false };
    const step = advance(frameOf(), running.state, { kind: 'given-up', failure });
    expect(types(step)).toEqual(['tool.completed', 'tool.completed', 'tool.completed', 'turn.failed', 'session.idled']);
    expect(endingRecords('turn_1', start, { cancelled: 'enough' }).map(({ type }) => type)).toEqual(['turn.cancelled', 'session.idled']);
  });
});

describe('whatever happens', () => {
  const ids = ['call_0', 'call_1', 'call_2'];
  const signal = fc.oneof<fc.Arbitrary<LoopSignal>[]>(
    fc
      .subarray(ids)
      .chain((chosen) =>
        fc
          .tuple(fc.boolean(), fc.boolean())
          .map(([approval, once]) =>
            answer({ calls: chosen.map((id) => asked(id, { needsApproval: approval, effect: once ? 'at_most_once' : 'idempotent' })) }),
          ),
      ),
    fc.constantFrom(...ids).map(done),
    fc.constant<LoopSignal>({ kind: 'message' }),
    fc.constant<LoopSignal>({ kind: 'taken-over' }),
    fc
      .tuple(fc.integer({ min: 1, max: 9 }), fc.boolean())
      .map(([number, approved]): LoopSignal => ({ kind: 'approval', approvalId: `approval_${number}`, approved })),
    fc.boolean().map((retryable): LoopSignal => ({ kind: 'model-failed', failure: { code: 'engine_failed', message: 'no', retryable } })),
  );

  /** Plays signals one by one; model calls get fresh ids so that a call is one call. */
  function play(signals: readonly LoopSignal[]): { steps: Step[]; state: TurnState } {
    const frame = frameOf({ maxIterations: 4 });
    const steps: Step[] = [];
    let state = start;
    signals.forEach((one, round) => {
      const fresh: LoopSignal =
        one.kind === 'answered'
          ? { ...one, answer: { ...one.answer, calls: one.answer.calls.map((call) => ({ ...call, id: `${call.id}_${round}` })) } }
          : one.kind === 'call-ended'
            ? { ...one, id: state.calls.find(({ id }) => id.startsWith(one.id))?.id ?? one.id }
            : one;
      const step = advance(frame, state, fresh);
      steps.push(step);
      state = step.state;
    });
    return { steps, state };
  }

  test('a call that ended has one result, and a turn ends once', () => {
    fc.assert(
      fc.property(fc.array(signal, { maxLength: 40 }), (signals) => {
        const { steps } = play(signals);
        const records = steps.flatMap((step) => step.records);
        const results = records.filter(({ type }) => type === 'tool.completed').map(({ data }) => data.tool_call_id);
        expect(new Set(results).size).toBe(results.length);
        const asking = records.filter(({ type }) => type === 'act.started').flatMap(({ data }) => data.tool_calls as { id: string }[]);
        const ends = records.filter(({ type }) => ['turn.completed', 'turn.failed'].includes(type));
        expect(ends.length).toBeLessThanOrEqual(1);
        if (ends.length === 1) expect(results.toSorted()).toEqual(asking.map(({ id }) => id).toSorted());
      }),
    );
  });

  test('no call of a tool that is not idempotent is begun twice without a yes', () => {
    fc.assert(
      fc.property(fc.array(signal, { maxLength: 40 }), (signals) => {
        const { steps } = play(signals);
        const approvals = steps.flatMap((step, at) => (signals[at]?.kind === 'approval' ? step.commands : []));
        const runs = steps.flatMap((step) => step.commands).filter((command) => command.kind === 'run-call');
        const again = runs.filter(({ call }) => call.effect === 'at_most_once' && call.attempt > 1);
        expect(again.every((command) => approvals.includes(command))).toBe(true);
      }),
    );
  });

  test('the state survives its JSON', () => {
    fc.assert(
      fc.property(fc.array(signal, { maxLength: 40 }), (signals) => {
        const { state } = play(signals);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });
});
