import { sha256 } from '../../base/canonical-json.ts';
import { Receipt } from '../../contract/receipts/receipt.ts';
import type { Answer, Call, Case, Step } from '../case.ts';
import { Problems, shown } from '../problems.ts';
import type { Reading, Voice } from '../voice.ts';
import { asking, PROMPTS } from './prompts.ts';
import { readPlain, readStreamed } from './reading.ts';

const RUN_ID = /^run_[0-9a-f]{32}$/;
const WAIT_SECONDS = 20;

function runIdOf(answer: Answer | undefined): string | undefined {
  const id = answer?.headers['x-abp-run-id'] ?? '';
  return RUN_ID.test(id) ? id : undefined;
}

/** Fetches the receipt of the answer at `at`, once its run has ended. */
export function receiptCall(at: number): (answers: readonly Answer[]) => Call | undefined {
  return (answers) => {
    const id = runIdOf(answers[at]);
    return id === undefined ? undefined : { method: 'GET', root: true, path: `/v1/receipts/${id}?wait=${WAIT_SECONDS}` };
  };
}

/** The receipt in an answer, or what keeps it from being one. */
export function receiptIn(answer: Answer | undefined): { readonly receipt?: Receipt; readonly problems: readonly string[] } {
  if (answer === undefined) return { problems: ['the answer should name its run in X-ABP-Run-Id'] };
  const parsed = Receipt.safeParse(answer.json);
  if (parsed.success) return { receipt: parsed.data, problems: [] };
  const [issue] = parsed.error.issues;
  return { problems: [`the receipt should follow the contract: ${issue?.path.join('.')} ${issue?.message} (${answer.status})`] };
}

/** Every run leaves a receipt, fetched beside the answer and true to it. */
export function receiptCases(voice: Voice): Case[] {
  return [ofAnswer(voice, false), ofAnswer(voice, true), ofFailure(voice), stableHash(voice)];
}

function ofAnswer(voice: Voice, stream: boolean): Case {
  return {
    id: stream ? 'receipt-stream' : 'receipt-plain',
    category: 'receipt',
    title: stream ? 'the receipt of a stream counts every event' : 'the receipt of an answer has its usage and digests',
    needs: ['ours'],
    steps: [(_, target) => asking(voice, target, PROMPTS.hello, { stream }), receiptCall(0)],
    check([answer, second], target) {
      const { receipt, problems } = receiptIn(second);
      if (receipt === undefined || answer === undefined) return problems;
      const reading = stream ? readStreamed(voice, answer) : readPlain(voice, answer);
      const p = new Problems();
      p.is('status', receipt.status, 'completed');
      p.is('dialect', receipt.dialect, voice.id);
      p.is('mode', receipt.mode, target.mode ?? null);
      p.is('run_id', receipt.run_id, runIdOf(answer) ?? '');
      p.is('request.sha256', receipt.request?.sha256, sha256(answer.call.body ?? ''));
      p.is('event_count', receipt.event_count, stream ? answer.events.length : 1);
      p.that(receipt.receipt_sha256 !== null, 'receipt_sha256 should be there');
      return [...problems, ...p.list, ...sameUsage(receipt, reading)];
    },
  };
}

function sameUsage({ usage }: Receipt, { tokens }: Reading): string[] {
  const told = { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 };
  return told.input === tokens.input && told.output === tokens.output
    ? []
    : [`the receipt should count ${shown({ ...tokens })} tokens, not ${shown(told)}`];
}

function ofFailure(voice: Voice): Case {
  return {
    id: 'receipt-failure',
    category: 'receipt',
    title: 'a failed run has a receipt that says so, and an error names its run',
    needs: ['ours', 'sim'],
    steps: [(_, target) => asking(voice, target, 'fail with 500'), receiptCall(0)],
    check([, second]) {
      const { receipt, problems } = receiptIn(second);
      if (receipt === undefined) return problems;
      const p = new Problems();
      p.is('status', receipt.status, 'failed');
      p.is('response.status', receipt.response?.status, 500);
      p.that(receipt.receipt_sha256 !== null, 'receipt_sha256 should be there');
      return p.list;
    },
  };
}

function stableHash(voice: Voice): Case {
  const prompts = [PROMPTS.hello, PROMPTS.hello, PROMPTS.long];
  return {
    id: 'receipt-hash',
    category: 'receipt',
    title: 'equal runs have equal hashes, different ones do not',
    needs: ['ours', 'deterministic'],
    steps: [
      ...prompts.map(
        (text): Step =>
          (_, target) =>
            asking(voice, target, text),
      ),
      ...prompts.map((_, at) => receiptCall(at)),
    ],
    check(answers) {
      const receipts = answers.slice(prompts.length).map(receiptIn);
      const [one, same, other] = receipts.map(({ receipt }) => receipt?.receipt_sha256);
      return [
        ...receipts.flatMap(({ problems }) => problems),
        ...(one === same ? [] : [`the hash of the same run should be ${one}, not ${same}`]),
        ...(one === other ? ['the hash of another run should differ'] : []),
      ];
    },
  };
}
