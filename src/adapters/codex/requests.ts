import { basename, join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import { packageVersion } from '../../base/package-version.ts';
import type { Attachment, RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan } from '../adapter.ts';
import { promptText } from '../families/launch/prompt.ts';
import { namedSkills, skillPaths } from '../families/launch/skills.ts';
import { mcpConfig } from './config.ts';
import { approvalOf, instructionsOf, modelOf } from './spawn.ts';

/** The ids of our own requests; the agent answers with the same. */
export const REQUEST = { initialize: 'initialize', thread: 'thread', turn: 'turn', message: 'message', interrupt: 'interrupt' } as const;

export function request(id: string, method: string, params: JsonObject): string {
  return JSON.stringify({ id, method, params });
}

export function initialize(): string {
  return request(REQUEST.initialize, 'initialize', {
    clientInfo: { name: 'agent_backplane', title: 'Agent Backplane', version: packageVersion() },
    capabilities: { experimentalApi: true },
  });
}

/** Opens a new thread, an earlier one, or a branch of an earlier one. */
export function openThread(plan: SpawnPlan): string {
  const { options, cwd } = plan;
  const model = modelOf(plan);
  const servers = options.mcpServers ?? [];
  const settings = {
    cwd,
    experimentalRawEvents: true,
    ...approvalOf(plan),
    ...(model !== undefined && { model }),
    ...instructionsOf(options),
    ...(servers.length > 0 && { config: mcpConfig(servers) }),
  };
  if (options.sessionId !== undefined) return request(REQUEST.thread, 'thread/resume', { threadId: options.sessionId, ...settings });
  if (options.forkSessionId !== undefined) return request(REQUEST.thread, 'thread/fork', { threadId: options.forkSessionId, ...settings });
  return request(REQUEST.thread, 'thread/start', { ...settings, ...(options.noSession === true && { ephemeral: true }) });
}

export function startTurn(threadId: string, options: RunOptions): string {
  return request(REQUEST.turn, 'turn/start', { threadId, input: inputOf(options) });
}

/** A turn after the first one, on the same thread. */
export function nextTurn(threadId: string, text: string): string {
  return request(REQUEST.message, 'turn/start', { threadId, input: [textInput(text)] });
}

export function textInput(text: string): JsonObject {
  return { type: 'text', text };
}

function inputOf(options: RunOptions): readonly JsonObject[] {
  const attachments = options.attachments ?? [];
  const images = attachments.map(imageOf);
  const places = attachments.filter((_, at) => images[at] === undefined).map(({ filePath, url }) => filePath ?? url ?? '');
  const skills = skillPaths(options).map((path) => ({ type: 'skill', name: basename(path), path: join(path, 'SKILL.md') }));
  const names = namedSkills(options).map((name) => `$${name}`);
  const text = [promptText(options), ...(places.length > 0 ? [`Attached:\n${places.join('\n')}`] : []), ...names].join('\n\n');
  return [...images.filter((image) => image !== undefined), ...skills, textInput(text)];
}

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp|bmp)$/i;

function imageOf({ filePath, url, base64, mimeType }: Attachment): JsonObject | undefined {
  const isImage = mimeType === undefined ? IMAGE_NAME.test(filePath ?? url ?? '') : mimeType.startsWith('image/');
  if (!isImage) return undefined;
  if (filePath !== undefined) return { type: 'localImage', path: filePath };
  return { type: 'image', url: url ?? `data:${mimeType};base64,${base64}` };
}
