import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { faultsOfDefaults, schemaFaults } from '../checks/checks.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import { codingAgentFaults, codingAgentToolName } from './coding-agent-tool.ts';
import type { CapabilityDefinition, HttpTool, TypeScriptTool } from './definition.ts';
import { secretsOf } from './http-tool.ts';
import { endpointOf } from './mcp-tools.ts';
import { hasMisspeltPlace, hasStrayBraces, placesIn, textsIn } from './template.ts';

/** The host stands in the definition: a model fills paths and values, never the place a call goes to. */
const FIXED_ORIGIN = /^https?:\/\/[^/?#{}\\@\s]+(?:[/?#]|$)/i;
/** Set by the client, or meant for one hop. */
const OWN_HEADERS = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer']);

/** Throws with every fault of a definition that its schema cannot see. */
export async function checkDefinition(definition: CapabilityDefinition, surroundings: Surroundings): Promise<void> {
  const faults = [
    ...repeated(definition.tools.map(nameOf)).map((name) => `tools: ${name} is there twice`),
    ...(await configFaults(definition.config_schema)),
    ...(await rangeFaults(definition)),
    ...mcpFaults(definition, surroundings),
  ];
  const ofSchemas = await parameterFaults(definition.tools);
  for (const [index, tool] of definition.tools.entries()) {
    const own = [...(ofSchemas.get(index) ?? []), ...(await toolFaults(tool, definition.config_schema, surroundings))];
    faults.push(...own.map((fault) => `tools[${index}].${fault}`));
  }
  if (faults.length > 0) {
    const words = faults.map((fault) => fault.replace(/\.$/, ''));
    throw new AbpError('unprocessable', `The capability ${definition.id} cannot be used: ${words.join('; ')}.`, { faults: words });
  }
}

function nameOf(tool: CapabilityDefinition['tools'][number]): string {
  return tool.type === 'coding_agent' ? codingAgentToolName(tool) : tool.name;
}

async function toolFaults(
  tool: CapabilityDefinition['tools'][number],
  config: JsonObject | undefined,
  surroundings: Surroundings,
): Promise<string[]> {
  if (tool.type === 'coding_agent') return await codingAgentFaults(tool, surroundings);
  return tool.type === 'http' ? httpFaults(tool, config, surroundings) : await sourceFaults(tool, surroundings);
}

/** Places that name an input or a setting which no schema declares: a call could never fill them. */
function undeclared(
  templates: readonly string[],
  schemas: { readonly input: JsonObject; readonly config: JsonObject | undefined },
): string[] {
  const places = templates.flatMap(placesIn).flatMap(({ room, name }) => (room === 'secret' ? [] : [{ room, name }]));
  const unknown = places.filter(({ room, name }) => !declares(schemas[room], name.split('.')));
  return [...new Set(unknown.map(({ room, name }) => `templates: {{${room}.${name}}} is declared in no schema`))];
}

/** Words of a schema beside which it cannot be told what it declares. */
const COMPOSED = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

function declares(schema: Json | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || schema === true) return true;
  if (!isJsonObject(schema)) return false;
  if (COMPOSED.some((word) => schema[word] !== undefined)) return true;
  const { properties, additionalProperties: others } = schema;
  const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own !== undefined) return rest.length === 0 || !isJsonObject(own) || own.properties === undefined || declares(own, rest);
  return others !== undefined && others !== false && declares(others, rest);
}

/** All schemas together have one deadline. */
async function parameterFaults(tools: CapabilityDefinition['tools']): Promise<ReadonlyMap<number, string[]>> {
  const schemas = tools.flatMap((tool, index) => (tool.type === 'coding_agent' ? [] : [{ index, schema: tool.parameters }]));
  const faults = await schemaFaults(schemas.map(({ schema }) => schema));
  return new Map(
    schemas.flatMap(({ index }, at) => {
      const fault = faults[at];
      return fault === undefined ? [] : [[index, [`parameters: ${fault}`]] as const];
    }),
  );
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

async function configFaults(schema: JsonObject | undefined): Promise<string[]> {
  if (schema === undefined) return [];
  const [fault] = await schemaFaults([schema]);
  const faults = fault === undefined ? await faultsOfDefaults(schema) : [fault];
  return faults.map((one) => `config_schema: ${one}`);
}

async function rangeFaults({ id, dependencies }: CapabilityDefinition): Promise<string[]> {
  const { validRange } = await import('semver');
  return dependencies.flatMap((dependency, index) => {
    if (dependency.id === id) return [`dependencies[${index}]: it depends on itself`];
    return validRange(dependency.range) === null ? [`dependencies[${index}].range: "${dependency.range}" is no range of versions`] : [];
  });
}

function httpFaults(tool: HttpTool, config: JsonObject | undefined, { secrets }: Surroundings): string[] {
  const faults: string[] = [];
  const host = FIXED_ORIGIN.test(tool.url) ? URL.parse(tool.url.replaceAll(/\{\{[^{}]*\}\}/g, 'x'))?.host : undefined;
  if (host === undefined) faults.push('url: it must be an http or https address whose host is written out');
  const templates = [tool.url, ...Object.values(tool.query), ...Object.values(tool.headers)];
  if (templates.some(hasStrayBraces) || textsIn(tool.body ?? null).some(hasMisspeltPlace)) {
    faults.push('templates: a place is written {{input.name}}, {{config.name}} or {{secret.NAME}}');
  }
  faults.push(...undeclared([...templates, ...textsIn(tool.body ?? null)], { input: tool.parameters, config }));
  if (placesIn(tool.url).some(({ room }) => room === 'secret')) faults.push('url: a secret goes into the query, a header or the body');
  const headers = Object.keys(tool.headers).filter((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || OWN_HEADERS.has(name.toLowerCase()));
  faults.push(...headers.map((name) => `headers: ${name} cannot be set`));
  for (const name of secretsOf(tool)) {
    const secret = secrets.find(name);
    if (secret === undefined) faults.push(`the secret ${name} is not configured; an operator names it under [secrets] in abp.toml`);
    else if (!secret.hosts.includes(host ?? '')) faults.push(`the secret ${name} may not be sent to ${host}`);
    else if (secret.methods?.includes(tool.method) === false) faults.push(`the secret ${name} may not be sent with ${tool.method}`);
  }
  return faults;
}

/** Code that does not load is found now, not in the middle of a turn. */
async function sourceFaults({ source }: TypeScriptTool, { sandbox }: Surroundings): Promise<string[]> {
  const { status, error } = await sandbox.run({ language: 'typescript', code: source, inspect: true }, { limits: { timeMs: 2000 } });
  return status === 'completed' ? [] : [`source: ${error ?? status}`];
}

function mcpFaults({ mcp }: CapabilityDefinition, { secrets }: Surroundings): string[] {
  if (mcp === undefined) return [];
  const plain = mcp.transport === 'http' ? [mcp.url] : [mcp.command, ...mcp.args, mcp.cwd ?? ''];
  if (plain.some((text) => placesIn(text).length > 0)) return ['mcp: a secret goes into headers or env, and nothing else is filled in'];
  try {
    const endpoint = endpointOf(mcp, secrets);
    const protocol = endpoint.transport === 'http' ? URL.parse(endpoint.url)?.protocol : 'https:';
    return protocol === 'https:' || protocol === 'http:' ? [] : ['mcp.url: it must be an http or https address'];
  } catch (error) {
    return [`mcp: ${error instanceof Error ? error.message : String(error)}`];
  }
}
