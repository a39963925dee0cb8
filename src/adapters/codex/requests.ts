import { basename, join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import { packageVersion } from '../../base/own-files.ts';
import type { SpawnPlan } from '../adapter.ts';
import { type GivenAttachment, isAddress } from '../attachments.ts';
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

export function startTurn(threadId: string, plan: SpawnPlan): string {
  return request(REQUEST.turn, 'turn/start', { threadId, input: inputOf(plan) });
}

/** A turn after the first one, on the same thread. */
export function nextTurn(threadId: string, text: string): string {
  return request(REQUEST.message, 'turn/start', { threadId, input: [textInput(text)] });
}

export function textInput(text: string): JsonObject {
  return { type: 'text', text };
}

function inputOf({ options, attachments = [] }: SpawnPlan): readonly JsonObject[] {
  const skills = skillPaths(options).map((path) => ({ type: 'skill', name: basename(path), path: join(path, 'SKILL.md') }));
  const names = namedSkills(options).map((name) => `$${name}`);
  const text = [promptText(options), ...names].join('\n\n');
  return [...attachments.map(imageOf), ...skills, textInput(text)];
}

/** Images are all that the agent takes. */
function imageOf(one: GivenAttachment): JsonObject {
  return isAddress(one) ? { type: 'image', url: one.url } : { type: 'localImage', path: one.path };
}
