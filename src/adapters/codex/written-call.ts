import type { Json, JsonObject } from '../../base/json.ts';
import { parseShallow } from '../../base/json-limits.ts';
import { objectAt, textAt } from '../families/lines/fields.ts';
import type { CallEnd } from '../families/tools/calls.ts';

/** A call as the model wrote it, in the words of tools. */
export interface WrittenCall {
  readonly name: string;
  readonly input: Json;
}

/** The call in an item of the model's answer; undefined when it is none. */
export function writtenCall(item: JsonObject): WrittenCall | undefined {
  const name = textAt(item.name);
  if (name === undefined) return undefined;
  if (item.type === 'custom_tool_call') return { name, input: { input: textAt(item.input) ?? '' } };
  if (item.type !== 'function_call') return undefined;
  const parsed = parseShallow(textAt(item.arguments) ?? '');
  const input = parsed.ok ? parsed.value : (item.arguments ?? {});
  const namespace = textAt(item.namespace);
  if (name === 'exec_command') return { name: 'shell', input: { command: textAt(objectAt(input).cmd) ?? '' } };
  return { name: namespace === undefined ? name : `${namespace}__${name}`, input };
}

/** The agent heads the output of a command with its exit code. */
export function endOf(text: string): CallEnd {
  const exit = /^(?:Process exited with code|Exit code:) (\d+)$/m.exec(text)?.[1];
  const output = /^Output:\n([\s\S]*)$/m.exec(text)?.[1] ?? text;
  return exit === undefined ? { failed: false, text } : { failed: exit !== '0', text: output, exitCode: Number(exit) };
}
