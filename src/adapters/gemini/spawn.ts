import { dirname, join } from 'node:path';
import { ValidationError } from '../../contract/runs/run-error.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { attachedFiles } from '../attachments.ts';
import { promptWithTexts, systemPromptOf } from '../families/launch/prompt.ts';
import { NO_THINKING, thinkingWish, type Unhonoured } from '../families/launch/thinking.ts';
import { unhonoured } from '../families/launch/unhonoured.ts';
import { levelOf, settingsOf } from './settings.ts';

/** Of a run through the gateway. */
const HOME_FOLDER = 'gemini-home';
/** Of a run on the user's own login. */
const SETTINGS_FILE = 'gemini-settings.json';
const SYSTEM_FILE = 'gemini-system.md';
/** A folder with nothing else in it: the agent may read all of it. */
const CONTEXT_FOLDER = 'gemini-context';
/** One argument of a Linux process holds 128 KiB. */
const LONGEST_ARGUMENT = 100_000;

/**
 * Whether the run is held over ACP: somebody answers. Never for an earlier session: the agent empties the file of a session that is loaded
 * this way.
 */
export function speaksAcp({ options, answerable, interactive }: SpawnPlan): boolean {
  if (interactive || options.sessionId !== undefined) return false;
  return asks(options, answerable) || options.nonInteractive === false;
}

function asks({ approvalMode = 'prompt' }: RunOptions, answerable: boolean): boolean {
  return answerable && approvalMode === 'prompt';
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return speaksAcp(plan) && asks(plan.options, plan.answerable) ? 'what-it-asks' : 'nothing';
}

/**
 * Through the gateway the agent gets a home of its own: with the user's it might use their login instead, and the settings of a run
 * would have to belong to root. Its sessions are those of the user all the same. Without the gateway the user's home stays as it is.
 */
export function spawn(plan: SpawnPlan): SpawnSpec {
  if (plan.options.nonInteractive === false && plan.options.sessionId !== undefined) {
    throw new ValidationError([{ field: 'nonInteractive', message: 'cannot be false in an earlier session, which takes no messages' }]);
  }
  const acp = speaksAcp(plan);
  const files = filesOf(plan);
  return {
    args: [
      ...(acp ? ['--acp'] : []),
      // About trust it would ask at every launch, in the home of the run, and then start itself again, which is turned off below.
      ...(plan.interactive && plan.gateway === undefined ? [] : ['--skip-trust']),
      '--approval-mode',
      APPROVAL_MODES[plan.options.approvalMode ?? 'prompt'],
      ...modelArgs(plan),
      ...(plan.options.sessionId === undefined ? [] : ['--resume', plan.options.sessionId]),
      ...foldersOf(plan).flatMap((folder) => ['--include-directories', folder]),
      ...(acp ? [] : outputArgs(plan)),
    ],
    env: environmentOf(plan, files),
    files,
    ...(plan.gateway !== undefined && { links: { [`${HOME_FOLDER}/.gemini/tmp`]: '.gemini/tmp' } }),
    stdin: acp ? 'open' : 'closed',
    ...(!acp && !plan.interactive && { input: promptWithMentions(plan) }),
    pty: plan.interactive,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan),
  };
}

/** Without an answer the default mode does not even offer what would have to be approved. */
const APPROVAL_MODES = { yolo: 'yolo', prompt: 'default', deny: 'plan' } as const;

function modelArgs(plan: SpawnPlan): readonly string[] {
  const model = plan.model?.cliArgValue ?? plan.modelId;
  return model === undefined ? [] : ['--model', model];
}

/** Attached files must stand in the workspace to be read; their folders join it. */
function foldersOf({ attachments }: SpawnPlan): readonly string[] {
  return [...new Set(attachedFiles(attachments).map(({ path }) => dirname(path)))];
}

/** The screen takes its prompt as an argument; a run gets it through standard input, where no other user of the machine reads it. */
function outputArgs(plan: SpawnPlan): readonly string[] {
  if (!plan.interactive) return ['--output-format', 'stream-json'];
  const text = promptWithMentions(plan);
  if (Buffer.byteLength(text) > LONGEST_ARGUMENT) {
    throw new ValidationError([{ field: 'prompt', message: `is longer than ${LONGEST_ARGUMENT} bytes, which its own screen cannot take` }]);
  }
  return text.trim() === '' ? [] : [`--prompt-interactive=${text}`];
}

/** Spaces in the name of a mentioned file are escaped. */
function mention(path: string): string {
  return `@${path.replaceAll(' ', '\\ ')}`;
}

/** The agent puts a mentioned file into the conversation by itself. */
function promptWithMentions(plan: SpawnPlan): string {
  const mentions = attachedFiles(plan.attachments).map(({ path }) => mention(path));
  return [promptWithTexts(plan), ...(mentions.length === 0 ? [] : [mentions.join('\n')])].join('\n\n');
}

function filesOf(plan: SpawnPlan): SpawnSpec['files'] {
  const { replace, before, after } = systemPromptOf(plan.options);
  const added = [before, after].filter((text) => text !== undefined).join('\n\n');
  const settings = settingsOf(plan, added === '' ? undefined : join(plan.runFolder, CONTEXT_FOLDER));
  return {
    ...(Object.keys(settings).length > 0 && { [settingsFile(plan)]: JSON.stringify(settings) }),
    ...(replace !== undefined && { [SYSTEM_FILE]: replace }),
    ...(added !== '' && { [`${CONTEXT_FOLDER}/GEMINI.md`]: added }),
  };
}

function settingsFile({ gateway }: SpawnPlan): string {
  return gateway === undefined ? SETTINGS_FILE : `${HOME_FOLDER}/.gemini/settings.json`;
}

function environmentOf({ gateway, runFolder }: SpawnPlan, files: SpawnSpec['files']): Readonly<Record<string, string>> {
  return {
    ...(gateway !== undefined && {
      GEMINI_CLI_HOME: join(runFolder, HOME_FOLDER),
      GEMINI_API_KEY: gateway.key,
      GOOGLE_GEMINI_BASE_URL: `${gateway.origin}/e/${gateway.engine}`,
    }),
    ...(SETTINGS_FILE in files && { GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(runFolder, SETTINGS_FILE) }),
    ...(SYSTEM_FILE in files && { GEMINI_SYSTEM_MD: join(runFolder, SYSTEM_FILE) }),
    // Otherwise it starts itself again as a child, and the first process takes no signal.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}

function thinkingDelivery(plan: SpawnPlan): ThinkingDelivery {
  if (Object.keys(plan.thinking).length === 0) return NO_THINKING;
  const level = levelOf(plan);
  const words = level === undefined ? '' : `; thinkingLevel ${level} for models that take a level`;
  return { by: 'settings', detail: `thinkingConfig ${JSON.stringify(plan.thinking)} in the settings of the run${words}` };
}

const ROOT_ONLY = 'without the gateway the agent takes it from a folder of root only';
const OF_ROOT = {
  thinkingEffort: ROOT_ONLY,
  thinkingBudgetTokens: ROOT_ONLY,
  thinkingOverride: ROOT_ONLY,
  mcpServers: ROOT_ONLY,
  agentsDoc: ROOT_ONLY,
  temperature: ROOT_ONLY,
  topP: ROOT_ONLY,
  topK: ROOT_ONLY,
  maxTokens: ROOT_ONLY,
  maxOutputTokens: ROOT_ONLY,
};
const NO_JSON = 'asked for by no setting of the agent';

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const { options, model } = plan;
  const wish = thinkingWish(plan);
  const takesLevel = model?.modelId.startsWith('gemini-3') ?? false;
  return [
    ...(systemPromptOf(options).before === undefined
      ? []
      : [{ option: 'systemPromptMode', reason: 'the agent has no place before its own prompt; the text stands after it' }]),
    ...(wish?.budgetTokens !== undefined && takesLevel
      ? [{ option: 'thinkingBudgetTokens', reason: `the model takes a level; the nearest is ${wish.level}` }]
      : []),
    ...(options.sessionId !== undefined && plan.answerable && (options.approvalMode ?? 'prompt') === 'prompt'
      ? [{ option: 'approvalMode', reason: 'an earlier session cannot ask; what would need an approval is not offered to the model' }]
      : []),
    ...(plan.gateway === undefined ? unhonoured(options, OF_ROOT) : []),
    ...(options.outputFormat === 'json' ? [{ option: 'outputFormat', reason: NO_JSON }] : []),
    ...unhonoured(options, {
      noSession: 'the agent keeps every session',
      skills: 'the agent takes skills from its own folders only',
    }),
  ];
}
