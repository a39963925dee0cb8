import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { SpawnPlan } from '../../adapter.ts';
import { withTexts } from '../../attachments.ts';

/** The prompt as one text; several parts are paragraphs. */
export function promptText(options: RunOptions): string {
  return typeof options.prompt === 'string' ? options.prompt : options.prompt.join('\n\n');
}

/** A screen that is launched without a prompt has a blank one. */
export function hasPrompt(options: RunOptions): boolean {
  return promptText(options).trim() !== '';
}

/** The prompt with the attached texts, for agents that have no place of their own for them. */
export function promptWithTexts({ options, attachments }: Pick<SpawnPlan, 'options' | 'attachments'>): string {
  return withTexts(promptText(options), attachments);
}

/** The caller's texts before and after the agent's own system prompt, or instead of it. */
export interface SystemPrompt {
  readonly replace?: string;
  readonly before?: string;
  readonly after?: string;
}

/** The system prompt and the document for agents of a run; the default mode is to append. */
export function systemPromptOf(options: RunOptions): SystemPrompt {
  const { systemPrompt, systemPromptMode = 'append', agentsDoc } = options;
  const append = systemPromptMode === 'append' ? systemPrompt : undefined;
  const after = [append, agentsDoc].filter((text) => text !== undefined).join('\n\n');
  return {
    ...(systemPrompt !== undefined && systemPromptMode === 'replace' && { replace: systemPrompt }),
    ...(systemPrompt !== undefined && systemPromptMode === 'prepend' && { before: systemPrompt }),
    ...(after !== '' && { after }),
  };
}
