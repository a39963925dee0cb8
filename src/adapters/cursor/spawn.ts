import { join } from 'node:path';
import { CapabilityError } from '../../contract/runs/run-error.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { attachedFiles } from '../attachments.ts';
import { promptWithTexts } from '../families/launch/prompt.ts';
import { NO_THINKING, type Unhonoured } from '../families/launch/thinking.ts';
import { unhonoured } from '../families/launch/unhonoured.ts';
import { PLUGIN_FOLDER, pluginFiles } from './plugin.ts';
import { UNSERVED } from './traffic.ts';

/** One argument of a Linux process holds 128 KiB. */
const LONGEST_ARGUMENT = 100_000;
/** The oldest release that is known to speak ACP and to ask whether it may trust a folder. An older one takes `acp` for a prompt. */
const SINCE = '2026.02.27';

/** Releases are dates with leading zeros, so they compare as texts. */
function isRecent({ version }: SpawnPlan): boolean {
  return version === undefined || version >= SINCE;
}

/** Whether the run is held over ACP: somebody answers, an image is attached, or the prompt is longer than an argument may be. */
export function speaksAcp(plan: SpawnPlan): boolean {
  if (plan.interactive || !isRecent(plan)) return false;
  return asks(plan) || hasImages(plan) || Buffer.byteLength(promptOf(plan)) > LONGEST_ARGUMENT;
}

/** Somebody answers the agent's questions, which it asks over ACP only. */
function asks(plan: SpawnPlan): boolean {
  const { options, answerable } = plan;
  return answerable && isRecent(plan) && (options.approvalMode ?? 'prompt') === 'prompt';
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return speaksAcp(plan) && asks(plan) ? 'what-it-asks' : 'nothing';
}

/** Images are the only content that the agent takes, and it takes them over ACP. */
function hasImages({ attachments }: SpawnPlan): boolean {
  return attachedFiles(attachments).length > 0;
}

function assertTakesImages(plan: SpawnPlan): void {
  if (!hasImages(plan) || isRecent(plan)) return;
  const message = `Agent 'cursor' takes images from version ${SINCE} on; ${plan.version} does not`;
  throw new CapabilityError({ agent: plan.options.agent, capability: 'imageInput', message });
}

/** The agent always runs on its own login and with its user's configuration; MCP servers come as a plugin of the run. */
export function spawn(plan: SpawnPlan): SpawnSpec {
  assertTakesImages(plan);
  const acp = speaksAcp(plan);
  const files = acp ? {} : pluginFiles(plan.options.mcpServers ?? []);
  return {
    args: acp ? [...modelArgs(plan), 'acp'] : ownArgs(plan, Object.keys(files).length > 0),
    env: {},
    files,
    stdin: acp ? 'open' : 'closed',
    pty: plan.interactive,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan, acp),
  };
}

function ownArgs(plan: SpawnPlan, hasPlugin: boolean): readonly string[] {
  const { options, interactive, runFolder } = plan;
  const prompt = promptOf(plan);
  return [
    ...(interactive ? [] : ['--print', '--output-format', 'stream-json', '--stream-partial-output']),
    ...(interactive || !isRecent(plan) ? [] : ['--trust']),
    ...approvalArgs(plan),
    ...modelArgs(plan),
    ...(options.sessionId === undefined ? [] : [`--resume=${options.sessionId}`]),
    ...(hasPlugin ? ['--plugin-dir', join(runFolder, PLUGIN_FOLDER)] : []),
    // There is no approval for ours alone: it holds for every server that the agent finds.
    ...(hasPlugin && !interactive ? ['--approve-mcps'] : []),
    ...(prompt.trim() === '' ? [] : ['--', notACommand(prompt)]),
  ];
}

function approvalArgs(plan: SpawnPlan): readonly string[] {
  if (plan.options.approvalMode === 'yolo') return ['--force'];
  return readsOnly(plan) ? ['--mode', READ_ONLY] : [];
}

/** Where nobody can be asked the agent would refuse commands and yet write files, so it gets no tools that change anything. */
export function readsOnly(plan: SpawnPlan): boolean {
  const { approvalMode = 'prompt' } = plan.options;
  return approvalMode === 'deny' || (approvalMode === 'prompt' && !plan.interactive && !asks(plan));
}

/** The mode of the agent in which it answers questions and changes nothing. */
export const READ_ONLY = 'ask';

/** A prompt of one word could be the name of a command of the CLI, such as `update`. */
function notACommand(prompt: string): string {
  return /^\S+$/.test(prompt) ? `${prompt}\n` : prompt;
}

function modelArgs(plan: SpawnPlan): readonly string[] {
  const model = plan.model?.cliArgValue ?? plan.modelId;
  return model === undefined ? [] : ['--model', model];
}

const JSON_ONLY = 'Answer with one JSON object and nothing else: no prose, no code fence.';

/** The agent owns its system prompt, so what belongs there stands before the prompt. */
export function promptOf(plan: SpawnPlan): string {
  const { outputFormat, systemPrompt, agentsDoc } = plan.options;
  const json = outputFormat === 'json' ? JSON_ONLY : undefined;
  const before = [systemPrompt, agentsDoc, json].filter((text) => text !== undefined);
  return [...before, promptWithTexts(plan)].join('\n\n');
}

const IN_THE_NAME = 'the effort is part of the name of a model, such as gpt-5.5-high; no option sets it';

function thinkingDelivery({ thinking }: SpawnPlan): ThinkingDelivery {
  return Object.keys(thinking).length === 0 ? NO_THINKING : { by: 'none', detail: IN_THE_NAME };
}

const STANDS_BEFORE = 'the agent owns its system prompt; the text stands before the prompt';
const NO_SETTING = 'the agent has no setting for it';

function unhonouredBy(plan: SpawnPlan, acp: boolean): Unhonoured {
  const { options, gateway } = plan;
  return [
    ...(gateway === undefined ? [] : [{ option: 'engine', reason: UNSERVED }]),
    ...approvalRows(plan),
    ...(acp && (options.mcpServers ?? []).length > 0
      ? [{ option: 'mcpServers', reason: 'over ACP the agent starts only those that its user has approved for this folder' }]
      : []),
    ...(options.outputFormat === 'json' ? [{ option: 'outputFormat', reason: 'asked for in the prompt; nothing enforces it' }] : []),
    ...unhonoured(options, {
      systemPrompt: STANDS_BEFORE,
      agentsDoc: STANDS_BEFORE,
      temperature: NO_SETTING,
      topP: NO_SETTING,
      topK: NO_SETTING,
      maxTokens: NO_SETTING,
      maxOutputTokens: NO_SETTING,
      skills: 'the agent takes skills from its own folders only',
      ...(options.noSession === true && { noSession: 'the agent keeps every session' }),
    }),
  ];
}

function approvalRows(plan: SpawnPlan): Unhonoured {
  if (plan.interactive || (plan.options.approvalMode ?? 'prompt') !== 'prompt') return [];
  const reason = readsOnly(plan)
    ? 'nobody can be asked in this run; the agent may only read'
    : 'the agent’s own rules decide what it asks about; it may edit files of its folder unasked';
  return [{ option: 'approvalMode', reason }];
}
