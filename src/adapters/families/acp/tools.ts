import type { JsonObject } from '../../../base/json.ts';
import { listAt, objectAt, textAt } from '../lines/fields.ts';
import { type ToolEffect, textOfContent } from '../tools/effects.ts';

const PATHS = ['path', 'filePath', 'file_path', 'filepath', 'absolute_path'];

/** Effects of the kinds of tools that the protocol knows. The other kinds change nothing that a run reports. */
export const EFFECT_OF_KIND: Readonly<Record<string, ToolEffect>> = {
  read: { does: 'read', path: PATHS },
  edit: { does: 'write', path: PATHS, content: ['content', 'new_text', 'text'] },
  delete: { does: 'delete', path: PATHS },
  execute: { does: 'shell', command: ['command', 'cmd', 'script'] },
};

/** The input of a call, with the path and the new text that the protocol tells beside it where the input has none. */
export function inputOf(call: JsonObject): JsonObject {
  const input = objectAt(call.rawInput);
  const diff = diffIn(call);
  const path = textAt(diff?.path) ?? textAt(objectAt(listAt(call.locations)[0]).path);
  const hasPath = PATHS.some((name) => typeof input[name] === 'string');
  return {
    ...(path !== undefined && !hasPath && { path }),
    ...(diff !== undefined && input.content === undefined && { content: diff.newText ?? '' }),
    ...(call.kind === 'execute' && commandIn(call)),
    ...input,
  };
}

/** Agents that send no input show the command in the title. */
function commandIn(call: JsonObject): JsonObject {
  const title = textAt(call.title) ?? '';
  return { command: /^[\w.-]+: (.*)$/s.exec(title)?.[1] ?? title };
}

/** A call that changes a part of a file is a patch and not a write. */
export function isPatch(call: JsonObject): boolean {
  const input = objectAt(call.rawInput);
  return ['old_string', 'oldString', 'oldText', 'edits', 'patch', 'diff'].some((name) => input[name] !== undefined);
}

export const PATCH: ToolEffect = { does: 'patch', path: PATHS };

/** True when the call shows that the file was not there before. */
export function createsFile(call: JsonObject): boolean {
  const metadata = objectAt(objectAt(call.rawOutput).metadata);
  const diff = diffIn(call);
  return metadata.exists === false || (diff !== undefined && (diff.oldText === null || objectAt(diff._meta).kind === 'add'));
}

function diffIn(call: JsonObject): JsonObject | undefined {
  return listAt(call.content)
    .map(objectAt)
    .find(({ type }) => type === 'diff');
}

/** The answer of a tool as text: the content that the agent shows to people, else its raw output. */
export function outputOf(call: JsonObject): string {
  const blocks = listAt(call.content)
    .map(objectAt)
    .filter(({ type }) => type === 'content')
    .map(({ content }) => content ?? '');
  const shown = textOfContent(blocks);
  if (shown !== '') return shown;
  const raw = call.rawOutput;
  if (typeof raw === 'string') return raw;
  const output = objectAt(raw);
  return textAt(output.output) ?? textAt(output.error) ?? textOfContent(output.content);
}

/** The exit code of a command, where the agent tells one. */
export function exitCodeOf(call: JsonObject): number | undefined {
  const output = objectAt(call.rawOutput);
  const code = output.exitCode ?? output.exit_code ?? objectAt(output.metadata).exit;
  return typeof code === 'number' ? code : undefined;
}
