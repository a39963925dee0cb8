import type { Attachment, RunOptions } from '../../../contract/runs/run-options.ts';

/** The prompt as one text; several parts are paragraphs. */
export function promptText(options: RunOptions): string {
  return typeof options.prompt === 'string' ? options.prompt : options.prompt.join('\n\n');
}

/** A screen that is launched without a prompt has a blank one. */
export function hasPrompt(options: RunOptions): boolean {
  return promptText(options).trim() !== '';
}

/** The prompt with the places of attachments that the agent has to open by itself. */
export function promptWithPlaces(options: RunOptions, attachments: readonly Attachment[]): string {
  const places = attachments.map((it) => it.filePath ?? it.url).filter((place) => place !== undefined);
  return places.length === 0
    ? promptText(options)
    : `${promptText(options)}\n\nAttached:\n${places.map((place) => `- ${place}`).join('\n')}`;
}

/** What stands before and after the agent's own system prompt, or instead of it. */
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
