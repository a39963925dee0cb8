import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { IrCustomTool, IrFunctionTool } from '../../ir/request.ts';
import type { PlannedCall } from './plan.ts';
import { instance } from './schema.ts';
import { schemaType } from './schema-shape.ts';
import { absolutePath } from './surroundings.ts';

export type CallableTool = IrFunctionTool | IrCustomTool;

/** A file to write and the directory the agent works in, if known. */
export interface FileWrite {
  readonly path: string;
  readonly text: string;
  readonly directory: string | undefined;
}

type Role = 'path' | 'content' | 'command' | 'patch' | 'oldText' | 'newText' | 'purpose';
type RoleValues = Partial<Readonly<Record<Role, string>>>;

/** How the sim guesses the role of a parameter: by its name in lower case without `_` and `-`. */
const ROLES: Readonly<Record<Role, RegExp>> = {
  path: /^(?:filepath|path|file|filename|targetfile|absolutepath)$/,
  content: /^(?:content|contents|filetext|filecontent|text|body|data)$/,
  command: /^(?:command|commands|cmd|script|commandline)$/,
  patch: /^(?:patch|patchtext|input|diff)$/,
  oldText: /^(?:oldstring|oldstr|oldtext)$/,
  newText: /^(?:newstring|newstr|newtext)$/,
  purpose: /(?:description|explanation|reason|justification|instruction|summary|title)/,
};

interface FileTool {
  /** Name of the tool in lower case without namespace, `_` and `-`. */
  readonly name: RegExp;
  readonly values: (file: FileWrite) => RoleValues;
  /** Only tools whose parameter `command` is a choice with `create` in it. */
  readonly creates?: boolean;
  /** Writes the input of a custom tool of this kind. */
  readonly freeform?: (file: FileWrite) => string;
}

/** Ways to write a file, best first: a tool made for it, an editor that can create, a patch, a shell, an edit of an empty file. */
const FILE_TOOLS: readonly FileTool[] = [
  { name: /^(?:write|writefile|create|createfile|createnewfile|writetofile|filewrite|savefile|fswrite)$/, values: wholeFile },
  { name: /edit/, creates: true, values: (file) => ({ ...wholeFile(file), command: 'create' }) },
  { name: /^(?:applypatch|patch)$/, values: (file) => ({ patch: addFilePatch(file) }), freeform: addFilePatch },
  {
    name: /^(?:bash|shell|shellcommand|sh|exec|execcommand|execute|executecommand|runshellcommand|runcommands?|runinterminal|runterminalcmd|terminal|localshell)$/,
    values: (file) => ({ command: shellCommand(file) }),
    freeform: shellCommand,
  },
  { name: /(?:write|create|save)/, values: wholeFile },
  {
    name: /^(?:edit|editfile|replace|strreplace|searchreplace)$/,
    values: (file) => ({ path: fullPath(file), oldText: '', newText: file.text }),
  },
];

/** A call that writes the file with the best of the offered tools; undefined when none of them can. */
export function writeCall(tools: readonly CallableTool[], file: FileWrite): PlannedCall | undefined {
  for (const kind of FILE_TOOLS) {
    for (const tool of tools) {
      const call = kind.name.test(plainName(tool.name)) ? callOf(tool, kind, file) : undefined;
      if (call !== undefined) return call;
    }
  }
  return undefined;
}

/** MCP tools carry the name of their server before a double underscore, a dot or a slash. */
function plainName(name: string): string {
  return normal(name.replace(/^.*(?:__|[./])/, ''));
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function callOf(tool: CallableTool, kind: FileTool, file: FileWrite): PlannedCall | undefined {
  if (tool.kind === 'custom') {
    return kind.freeform === undefined ? undefined : { name: tool.name, arguments: kind.freeform(file), custom: true };
  }
  if (kind.creates && !canCreate(tool.schema)) return undefined;
  const filled = fill(tool.schema, kind.values(file), `Write ${file.path}`);
  return filled === undefined ? undefined : { name: tool.name, arguments: JSON.stringify(filled), custom: false };
}

function canCreate(schema: JsonObject): boolean {
  const command = isJsonObject(schema.properties) ? schema.properties.command : undefined;
  return isJsonObject(command) && Array.isArray(command.enum) && command.enum.includes('create');
}

/** Arguments for the schema with each value in the parameter that has its role; undefined when a role has no parameter. */
function fill(schema: JsonObject, values: RoleValues, purpose: string): JsonObject | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const keys = [...new Set([...required, ...Object.keys(properties)])];
  const filled: Record<string, Json> = {};
  for (const [role, value] of Object.entries(values)) {
    const key = keys.find((name) => !(name in filled) && hasRole(name, role));
    if (key === undefined) return undefined;
    filled[key] = shaped(value, key, properties[key]);
  }
  for (const key of required) {
    if (!(key in filled)) filled[key] = remaining(key, properties[key], schema, purpose);
  }
  return filled;
}

function hasRole(name: string, role: string): boolean {
  return Object.hasOwn(ROLES, role) && ROLES[role as Role].test(normal(name)); // hasOwn has just shown that it is a Role
}

/** A list takes the value as its one entry; a command as a list of words (Codex) is run by a shell. */
function shaped(value: string, key: string, schema: Json | undefined): Json {
  if (!isJsonObject(schema) || schemaType(schema) !== 'array') return value;
  if (ROLES.command.test(normal(key)) && !normal(key).endsWith('s')) return ['bash', '-lc', value];
  return [value];
}

function remaining(key: string, schema: Json | undefined, root: JsonObject, purpose: string): Json {
  const declared = isJsonObject(schema) ? schema : {};
  const free = schemaType(declared) === 'string' && declared.enum === undefined && declared.const === undefined;
  return free && ROLES.purpose.test(normal(key)) ? purpose : instance(declared, root);
}

function wholeFile(file: FileWrite): RoleValues {
  return { path: fullPath(file), content: file.text };
}

function fullPath(file: FileWrite): string {
  return absolutePath(file.path, file.directory);
}

function addFilePatch(file: FileWrite): string {
  const lines = file.text.split('\n').map((line) => `+${line}`);
  return ['*** Begin Patch', `*** Add File: ${file.path}`, ...lines, '*** End Patch'].join('\n');
}

/** Prints the file at the end, so that the tool has a result to tell. */
function shellCommand(file: FileWrite): string {
  const path = shellWord(file.path);
  const slash = file.path.lastIndexOf('/');
  const folder = slash > 0 ? `mkdir -p ${shellWord(file.path.slice(0, slash))} && ` : '';
  return `${folder}printf '%s' ${shellWord(file.text)} > ${path} && cat ${path}`;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
