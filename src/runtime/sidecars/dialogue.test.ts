import { describe, expect, it } from 'vitest';
import { AbpError } from '../../contract/errors.ts';
import { workOrder } from '../../contract/work-orders/work-order.ts';
import { receiptInLine } from '../../receipts/verify/verify-foreign.ts';
import { MOST_LINES, SidecarDialogue, type SidecarTask } from './dialogue.ts';

const REF = '01900000-0000-7000-8000-000000000001';
const ORDER = workOrder('t').build();
const hello = (version = 'abp/v0.1'): string =>
  JSON.stringify({ t: 'hello', contract_version: version, backend: { id: 'x' }, capabilities: { streaming: 'native' } });
const event = (more: object, ref = REF): string =>
  JSON.stringify({ t: 'event', ref_id: ref, event: { ts: '2026-01-02T03:04:05Z', ...more } });
const final = (outcome = 'complete', ref = REF, trace: readonly object[] = []): string =>
  JSON.stringify({
    t: 'final',
    ref_id: ref,
    receipt: {
      meta: {
        run_id: REF,
        work_order_id: ORDER.id,
        contract_version: 'abp/v0.1',
        started_at: '2026-01-02T03:04:05Z',
        finished_at: '2026-01-02T03:04:06Z',
        duration_ms: 1000,
      },
      backend: { id: 'x' },
      capabilities: {},
      usage_raw: {},
      usage: { input_tokens: 3, output_tokens: 4, estimated_cost_usd: 0.5 },
      trace,
      artifacts: [],
      verification: { harness_ok: true },
      outcome,
    },
  });

const manyValues = (t: string): string => event({ type: 'tool_call', tool_name: t, input: Array(200_000).fill(1) });

const manyCapabilities = (): string =>
  JSON.stringify({
    ...JSON.parse(hello()),
    capabilities: Object.fromEntries(Array.from({ length: 4000 }, (_, at) => [`c${at}`, 'native'])),
  });

/** A final with all that was said in a long run. */
const longFinal = (outcome?: string, ref?: string): string =>
  final(outcome, ref, Array(6000).fill({ ts: '2026-01-02T03:04:05Z', type: 'assistant_delta', text: 'word' }));

let time = 0;
function dialogue(more: Partial<SidecarTask> = {}): SidecarDialogue {
  time = 0;
  const task = {
    refId: REF,
    order: ORDER,
    cwd: '/w',
    times: { handshakeMs: 1000, heartbeatMs: 100 },
    watched: false,
    greeted: () => undefined,
    ...more,
  };
  return new SidecarDialogue(task, { now: () => time });
}

const DIED = { code: 3, signal: null };

/** Reads lines one after the other; the codes that the outcome has, and whether the sidecar was ended for it. */
function after(...lines: string[]): { code: string | undefined; broken: boolean } {
  const talk = dialogue();
  const broken = lines.map((line) => talk.line(line)).some((heard) => heard.broken === true);
  return { code: talk.end(DIED).outcome.code, broken };
}

describe('a good sidecar', () => {
  it('gets the order after its hello, with the folder that it works in, and ends well', () => {
    const talk = dialogue();
    expect(talk.begin()).toEqual([]);
    const sent = JSON.parse(talk.line(hello()).send?.[0] ?? '');
    expect(sent).toEqual({ t: 'run', id: REF, work_order: { ...ORDER, workspace: { ...ORDER.workspace, root: '/w' } } });
    expect(talk.line(event({ type: 'assistant_delta', text: 'a' })).events).toEqual([
      { type: 'message_start' },
      { type: 'text_delta', delta: 'a' },
    ]);
    expect(talk.line(final())).toMatchObject({ done: true });
    expect(talk.end({ code: 0, signal: null }).outcome).toMatchObject({ ok: true, told: { artifacts: [], receipt: { verified: null } } });
  });

  it('of a later minor version is taken, and what is new in it is left out with a remark', () => {
    const talk = dialogue();
    expect(talk.line(hello('abp/v0.9')).send).toHaveLength(1);
    expect(talk.line('{"t":"progress","percent":3}').events).toMatchObject([{ type: 'debug', level: 'warn' }]);
    expect(talk.line(event({ type: 'telepathy' })).events).toMatchObject([{ type: 'debug', level: 'warn' }]);
    talk.line(final());
    expect(talk.end(DIED).outcome.ok).toBe(true);
  });

  it('is answered a ping', () => {
    const talk = dialogue();
    talk.line(hello());
    expect(talk.line('{"t":"ping","seq":7}').send).toEqual(['{"t":"pong","seq":7}']);
  });

  it('finds the call of a result without an id by its tool', () => {
    const talk = dialogue();
    talk.line(hello());
    const [start] = talk.line(event({ type: 'tool_call', tool_name: 'Read', input: {} })).events;
    const [result] = talk.line(event({ type: 'tool_result', tool_name: 'Read', output: 1, is_error: false })).events;
    expect(result).toMatchObject({ type: 'tool_result', toolCallId: start !== undefined && 'toolCallId' in start ? start.toolCallId : '' });
  });

  it('is told to stop once it works, and not before', () => {
    const talk = dialogue();
    expect(talk.cancel()).toEqual([]);
    talk.line(hello());
    expect(talk.cancel()).toEqual([JSON.stringify({ ref_id: REF, t: 'cancel', reason: 'the run was cancelled' })]);
  });

  it('asks before a tool where it is told to, and gets an answer', () => {
    const talk = dialogue({ watched: true });
    expect(JSON.parse(talk.line(hello()).send?.[0] ?? '').extensions).toEqual(['tool_approval']);
    const asked = { t: 'approval_request', ref_id: REF, id: 'q1', tool_name: 'Bash', input: { command: 'ls' } };
    expect(talk.line(JSON.stringify(asked)).waiting).toEqual([{ waitId: 'q1', toolName: 'Bash', input: { command: 'ls' } }]);
    expect(JSON.parse(talk.say({ kind: 'stop', waitId: 'q1', reason: 'no' })?.[0] ?? '')).toEqual({
      t: 'approval',
      ref_id: REF,
      id: 'q1',
      approve: false,
      reason: 'no',
    });
  });
});

describe('a sidecar that breaks the protocol', () => {
  it.each([
    ['says something before hello', [event({ type: 'warning', message: 'm' })], 'PROTOCOL_HANDSHAKE_FAILED', true],
    ['begins with words', ['starting…'], 'PROTOCOL_HANDSHAKE_FAILED', true],
    ['speaks another version', [hello('abp/v9.9')], 'PROTOCOL_VERSION_MISMATCH', true],
    ['speaks no version', [hello('1')], 'PROTOCOL_VERSION_MISMATCH', true],
    ['says hello twice', [hello(), hello()], 'PROTOCOL_UNEXPECTED_MESSAGE', true],
    ['prints words', [hello(), 'debug: x'], 'PROTOCOL_INVALID_ENVELOPE', true],
    ['writes a member of a wrong type', [hello(), event({ type: 'assistant_delta', text: 3 })], 'PROTOCOL_INVALID_ENVELOPE', true],
    ['writes a run', [hello(), JSON.stringify({ t: 'run', id: 'x', work_order: ORDER })], 'PROTOCOL_UNEXPECTED_MESSAGE', true],
    ['writes an event after its final', [hello(), final(), event({ type: 'warning', message: 'm' })], 'PROTOCOL_UNEXPECTED_MESSAGE', true],
    ['writes two finals', [hello(), final(), final()], 'PROTOCOL_UNEXPECTED_MESSAGE', true],
    ['says a hello of thousands of capabilities', [manyCapabilities()], 'PROTOCOL_HANDSHAKE_FAILED', true],
    ['dies before hello', [], 'PROTOCOL_HANDSHAKE_FAILED', false],
    ['dies at work', [hello()], 'AGENT_CRASH', false],
    ['gives up', [hello(), '{"t":"fatal","ref_id":null,"error":"no key","error_code":"backend_auth_failed"}'], 'SIDECAR_FAILED', false],
    ['ends partly', [hello(), final('partial')], 'SIDECAR_FAILED', false],
    ['ends another run', [hello(), final('complete', 'other')], 'AGENT_CRASH', false],
    ['writes an event of more values than are read at once', [hello(), manyValues('event')], 'PROTOCOL_INVALID_ENVELOPE', true],
    ['writes a long event of few values', [hello(), event({ type: 'warning', message: ',[{'.repeat(200_000) })], 'AGENT_CRASH', false],
  ])('%s', (_, lines, code, broken) => {
    expect(after(...lines)).toEqual({ code, broken });
  });

  it.each([
    ['events', event({ type: 'warning', message: 'm' })],
    ['lines without a word', ''],
  ])('floods with %s', (_, one) => {
    const talk = dialogue();
    talk.line(hello());
    let broken = 0;
    for (let at = 0; at < MOST_LINES + 10; at += 1) if (talk.line(one).broken === true) broken += 1;
    expect(broken).toBe(1);
    expect(talk.end(DIED).outcome.code).toBe('PROTOCOL_UNEXPECTED_MESSAGE');
  });

  it.each(['too-long', 'not-utf8'] as const)('writes bytes that are %s', (kind) => {
    const talk = dialogue();
    talk.line(hello());
    expect(talk.strict.fault(kind).broken).toBe(true);
    expect(talk.end(DIED).outcome.code).toBe('PROTOCOL_INVALID_ENVELOPE');
  });

  it('says no hello in time', () => {
    const talk = dialogue();
    talk.begin();
    time = 999;
    expect(talk.watch.look().broken).toBeUndefined();
    time = 1000;
    expect(talk.watch.look().broken).toBe(true);
    expect(talk.end(DIED).outcome.code).toBe('PROTOCOL_HANDSHAKE_FAILED');
  });

  it('is silent: it is asked three times, and then ended', () => {
    const talk = dialogue();
    talk.line(hello());
    const heard = [100, 200, 300, 400].map((at) => {
      time = at;
      return talk.watch.look();
    });
    expect(heard.map(({ send = [] }) => send.length)).toEqual([1, 1, 1, 0]);
    expect(heard.at(-1)?.broken).toBe(true);
    expect(talk.end(DIED).outcome.code).toBe('INACTIVITY_TIMEOUT');
  });

  it('does not offer what is required, and gets no order', () => {
    const talk = dialogue({ greeted: () => new AbpError('E006', 'x offers nothing') });
    expect(talk.line(hello())).toEqual({ events: [], broken: true });
    expect(talk.end(DIED).outcome).toMatchObject({ ok: false, code: 'E006' });
  });
});

describe('a final that takes long to read', () => {
  const pong = '{"t":"pong","seq":1}';
  const warning = (message: string): string => event({ type: 'warning', message });
  const looksLikeIt = event({ type: 'warning', message: 'x'.repeat(300_000), ext: { t: 'final' } });

  it.each([
    ['ends the run', [longFinal()], { code: undefined, broken: false, told: [] }],
    ['ends it partly', [longFinal('partial')], { code: 'SIDECAR_FAILED', broken: false, told: [] }],
    ['may be followed by the answer to a ping', [longFinal(), pong], { code: undefined, broken: false, told: [] }],
    ['is followed by an event', [longFinal(), pong, warning('m')], { code: 'PROTOCOL_UNEXPECTED_MESSAGE', broken: true, told: [] }],
    ['is followed by a second one', [longFinal(), longFinal()], { code: 'PROTOCOL_UNEXPECTED_MESSAGE', broken: true, told: [] }],
    [
      'is followed by a flood',
      [longFinal(), ...Array(20).fill(warning('m'.repeat(60_000)))],
      { code: 'PROTOCOL_UNEXPECTED_MESSAGE', broken: true, told: [] },
    ],
    ['is not valid', [longFinal('splendid'), warning('m')], { code: 'PROTOCOL_INVALID_ENVELOPE', broken: true, told: [] }],
    ['is no JSON', [`${longFinal()}]`], { code: 'PROTOCOL_INVALID_ENVELOPE', broken: true, told: [] }],
    [
      'is of another run, and the work goes on',
      [longFinal('complete', 'other'), warning('m'), final()],
      { code: undefined, broken: false, told: ['m'] },
    ],
    ['only looks like one', [looksLikeIt, final()], { code: undefined, broken: false, told: [] }],
  ])('%s', async (_, lines, { code, broken, told }) => {
    const talk = dialogue();
    talk.line(hello());
    const heard = lines.map((line) => talk.line(line));
    for (let at = 0; at < heard.length; at += 1) {
      const later = await heard[at]?.later;
      if (later !== undefined) heard.push(later);
    }
    expect(heard.some((one) => one.broken === true)).toBe(broken);
    expect(talk.end(DIED).outcome.code).toBe(code);
    const messages = heard.flatMap(({ events }) => events).flatMap((one) => (one.type === 'debug' ? [one.message] : []));
    expect(messages.filter((message) => message.length === 1)).toEqual(told);
  });

  it('is read on another thread, and its account is the one of a short one', async () => {
    const talk = dialogue();
    talk.line(hello());
    const line = longFinal();
    const { events, later } = talk.line(line);
    expect(events).toEqual([]);
    expect(await later).toMatchObject({ done: true, events: [{ type: 'token_usage', inputTokens: 3 }, { type: 'cost' }] });
    expect(talk.end(DIED).outcome).toMatchObject({ ok: true, told: { receipt: { ...receiptInLine(line), outcome: 'complete' } } });
  });
});
