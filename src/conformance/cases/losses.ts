import { sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../base/json.ts';
import { CAPABILITIES } from '../../contract/capability.ts';
import type { Answer, Case, Target } from '../case.ts';
import { Problems, shown } from '../problems.ts';
import type { Voice } from '../voice.ts';
import { asking, PROMPTS } from './prompts.ts';
import { receiptCall, receiptIn } from './receipts.ts';

const FUTURE = 'abp_conformance_future_field';

/** Nothing a caller sends is lost without a word. */
export function lossCases(voice: Voice): Case[] {
  return [unknownField(voice), everyLeaf(voice), missingCapability(voice)];
}

function unknownField(voice: Voice): Case {
  return {
    id: 'unknown-field',
    category: 'mapped',
    title: 'a field of the future passes unchanged or is refused by name, and is never lost',
    needs: ['ours'],
    steps: [(_, target) => asking(voice, target, PROMPTS.hello, { extra: { [FUTURE]: { deep: [1] } } }), receiptCall(0)],
    check: ([answer, second], target) => (target.mode === 'mapped' ? refusedByName(voice, answer, second) : passedWhole(answer, second)),
  };
}

function passedWhole(answer: Answer | undefined, second: Answer | undefined): string[] {
  const { receipt, problems } = receiptIn(second);
  const p = new Problems();
  const sent = sha256(answer?.call.body ?? '');
  p.is('the status', answer?.status, 200);
  p.is('the digest of the request as the gateway got it', receipt?.request?.sha256, sent);
  p.is('the digest of the request as the engine got it', receipt?.upstream_request?.sha256, sent);
  return [...problems, ...p.list];
}

function errorIn(answer: Answer | undefined): JsonObject {
  return isJsonObject(answer?.json) && isJsonObject(answer.json.error) ? answer.json.error : {};
}

function refusedByName(voice: Voice, answer: Answer | undefined, second: Answer | undefined): string[] {
  const { receipt, problems } = receiptIn(second);
  const p = new Problems();
  const error = errorIn(answer);
  p.is('the status', answer?.status, 400);
  p.is('error.code', error.code, 'E001');
  p.that(JSON.stringify(error.details ?? null).includes(FUTURE), `error.details should name ${FUTURE}, not ${shown(error.details)}`);
  p.that(receipt?.response === null, 'the engine should not have been called');
  return [...problems, ...p.list, ...voice.errorProblems(answer?.json, answer?.status ?? 0)];
}

function everyLeaf(voice: Voice): Case {
  return {
    id: 'every-leaf',
    category: 'mapped',
    title: 'the receipt of a mapped run accounts for every leaf of the request',
    needs: ['ours', 'mapped'],
    steps: [(_, target) => asking(voice, target, PROMPTS.call, { tools: true, maxTokens: 256, stream: true }), receiptCall(0)],
    check([answer, second]) {
      const { receipt, problems } = receiptIn(second);
      const told = new Set(receipt?.fidelity.map(({ path }) => path));
      const leaves = leavesOf(parseJsonObject(answer?.call.body ?? '') ?? {}, '');
      const untold = leaves.filter((path) => !told.has(path) && !told.has(path.replaceAll(/\[\d+\]/g, '[*]')));
      return [...problems, ...(untold.length === 0 ? [] : [`the fidelity record should name ${untold.join(', ')}`])];
    },
  };
}

function leavesOf(value: Json, path: string): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [path] : value.flatMap((item: Json, at) => leavesOf(item, `${path}[${at}]`));
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, path === '' ? key : `${path}.${key}`));
}

function missingCapability(voice: Voice): Case {
  return {
    id: 'missing-capability',
    category: 'mapped',
    title: 'a required capability that the engine lacks is refused before the engine is called',
    needs: ['ours'],
    steps: [
      (_, target) => ({ method: 'GET', root: true, path: `/v1/backends/engine:${target.engine}` }),
      ([manifest], target) => {
        const missing = lackOf(manifest);
        const call = asking(voice, target, PROMPTS.hello);
        return { ...call, headers: { ...call.headers, 'x-abp-require': `${missing ?? 'streaming'}=native` } };
      },
      receiptCall(1),
    ],
    check: (answers, target) => capabilityRefused(voice, answers, target),
  };
}

function lackOf(manifest: Answer | undefined): string | undefined {
  const levels = isJsonObject(manifest?.json) && isJsonObject(manifest.json.capabilities) ? manifest.json.capabilities : {};
  return CAPABILITIES.find(({ name }) => levels[name] === undefined || levels[name] === 'unsupported')?.name;
}

function capabilityRefused(voice: Voice, [manifest, answer, second]: readonly Answer[], target: Target): ReturnType<Case['check']> {
  const missing = lackOf(manifest);
  if (missing === undefined) return { skip: `${target.engine} has every capability` };
  const { receipt, problems } = receiptIn(second);
  const error = errorIn(answer);
  const p = new Problems();
  p.is('the status', answer?.status, 501);
  p.is('error.code', error.code, 'E006');
  p.is('error.details.capability', isJsonObject(error.details) ? error.details.capability : undefined, missing);
  p.is('the status in the receipt', receipt?.status, 'failed');
  p.that(receipt?.response === null, 'the engine should not have been called');
  return [...problems, ...p.list, ...voice.errorProblems(answer?.json, answer?.status ?? 0)];
}
