import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Paint } from '../output.ts';
import { table } from '../table.ts';

/** One agent as `create`, `edit`, `import` and `show` print it. */
export function agentPage(agent: JsonObject, paint: Paint): string {
  const rows = [
    ['id', text(agent.id)],
    ['status', agent.status === 'active' ? paint.good('active') : paint.warn(text(agent.status))],
    ['description', text(agent.description)],
    ['model', agent.model === null ? `${paint.faint('sim/sim-1 (default)')}` : text(agent.model)],
    ['capabilities', capabilityNames(agent.capabilities)],
    ['conflicts', text(agent.conflicts)],
    ['limits', limits(agent)],
    ['tags', Array.isArray(agent.tags) ? agent.tags.join(', ') : ''],
    ['changed', text(agent.updated_at)],
  ].filter(([, value]) => value !== '' && value !== '–');
  return [
    paint.strong(text(agent.name)),
    table(rows.map(([name = '', value = '']) => [`  ${paint.faint(name)}`, value])),
    ...warningLines(agent.warnings, paint),
  ].join('\n');
}

export function warningLines(warnings: Json | undefined, paint: Paint): string[] {
  return list(warnings).map((warning) => `${paint.warn('warning:')} ${text(warning)}`);
}

export function agentTable(agents: readonly JsonObject[], paint: Paint): string {
  if (agents.length === 0) return 'No agents. Make one with abp agents create <name>.';
  const head = ['Id', 'Name', 'Model', 'Capabilities', 'Status'].map(paint.strong);
  return table([
    head,
    ...agents.map((agent) => [
      text(agent.id),
      text(agent.name),
      agent.model === null ? paint.faint('sim/sim-1') : text(agent.model),
      capabilityNames(agent.capabilities),
      agent.status === 'active' ? paint.good('active') : paint.warn(text(agent.status)),
    ]),
  ]);
}

/** The page of a turn that was not sent: tools, and what the model makes of them. */
export function previewPage(preview: JsonObject, paint: Paint): string {
  const error = isJsonObject(preview.error ?? null) ? [`${paint.bad('cannot run:')} ${text(member(preview.error, 'message'))}`] : [];
  const prompt = text(preview.system_prompt);
  const tools = list(preview.tools).map((tool) => [
    `  ${text(member(tool, 'name'))}`,
    paint.faint(text(member(member(tool, 'source'), 'capability_id'))),
    text(member(tool, 'description')),
  ]);
  const summary = text(member(member(preview.negotiation, 'report'), 'summary'));
  const warnings = warningLines(preview.warnings, paint);
  return [
    ...error,
    ...(warnings.length === 0 ? [] : [warnings.join('\n')]),
    ...(prompt === '–' || prompt === '' ? [] : [`${paint.strong('Prompt')}\n${indented(prompt)}`]),
    ...(tools.length === 0 ? [] : [`${paint.strong('Tools')}\n${table(tools)}`]),
    ...(summary === '–' ? [] : [`${paint.strong('Model')} ${text(member(preview.model, 'engine'))}: ${summary}`]),
  ].join('\n\n');
}

/** Capabilities of an agent, or all there are. */
export function capabilityTable(items: readonly JsonObject[], paint: Paint): string {
  if (items.length === 0) return 'No capabilities.';
  const head = ['Id', 'Name', 'Status', 'Description'].map(paint.strong);
  return table([head, ...items.map(({ id, name, status, description }) => [text(id), text(name), text(status), text(description)])]);
}

export function assignedTable(items: readonly JsonObject[], paint: Paint): string {
  if (items.length === 0) return 'No capabilities.';
  const head = ['Position', 'Capability', 'Version', 'Settings'].map(paint.strong);
  return table([
    head,
    ...items.map(({ position, capability_id: id, version, config }) => [
      text(position),
      text(id),
      version === undefined ? '' : text(version),
      config === undefined ? '' : JSON.stringify(config),
    ]),
  ]);
}

function capabilityNames(value: Json | undefined): string {
  return list(value)
    .map((item) => text(member(item, 'capability_id')))
    .join(', ');
}

function limits({ max_iterations: iterations, max_cost_usd: cost }: JsonObject): string {
  return [
    ...(typeof iterations === 'number' ? [`${iterations} model ${iterations === 1 ? 'call' : 'calls'} a turn`] : []),
    ...(typeof cost === 'number' ? [`$${cost} a turn`] : []),
  ].join(', ');
}

function indented(lines: string): string {
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}

function member(value: Json | undefined, name: string): Json | undefined {
  return value !== undefined && isJsonObject(value) ? value[name] : undefined;
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function text(value: Json | undefined): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
