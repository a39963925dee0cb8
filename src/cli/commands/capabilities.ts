import { CAPABILITIES } from '../../contract/capability.ts';
import { type Backend, listBackends, resolveBackend } from '../../runtime/backends.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { levelWord, type Output, type Paint } from '../output.ts';
import { optional } from '../parameter.ts';
import { table } from '../table.ts';

const KINDS = [
  { kind: 'engine', title: 'Engines' },
  { kind: 'host', title: 'Hosts' },
  { kind: 'adapter', title: 'Adapters' },
] as const satisfies readonly { kind: Backend['kind']; title: string }[];

/** Of a terminal that does not say how wide it is, and of a file. */
const USUAL_WIDTH = 100;
const NAME_WIDTH = Math.max(...CAPABILITIES.map(({ name }) => name.length));
/** The longest of the words that cells hold, and of the usual names above them. */
const LEVEL_WIDTH = 'azure-openai'.length;
const GAP = 2;

export const command = defineCommand({
  arguments: { backend: optional('[backend]', 'one backend: its id, with the kind before it where two share a name') },
  options: {},
  examples: ['abp capabilities', 'abp capabilities engine:claude', 'abp capabilities host:codex --json'],
  async run({ io, output }, { backend }) {
    if (backend === undefined) printAll(output, listBackends(), io.stdout.columns ?? USUAL_WIDTH);
    else output.print(resolveBackend(backend), (one) => renderOne(one, output.paint));
    return EXITS.ok.code;
  },
});

function printAll(output: Output, backends: readonly Backend[], width: number): void {
  output.print({ items: backends }, ({ items }) =>
    KINDS.map(({ kind, title }) => ({ title, backends: items.filter((one) => one.kind === kind) }))
      .filter((group) => group.backends.length > 0)
      .flatMap((group) => inWidth(group, width).map((part) => renderGroup(part, output.paint)))
      .join('\n\n'),
  );
}

/** The backends of a group side by side, as many as fit the width, then the next ones below. */
function inWidth<G extends { readonly backends: readonly Backend[] }>(group: G, width: number): G[] {
  const room = Math.max(1, Math.floor((width - NAME_WIDTH) / (LEVEL_WIDTH + GAP)));
  return Array.from({ length: Math.ceil(group.backends.length / room) }, (_, at) => ({
    ...group,
    backends: group.backends.slice(at * room, (at + 1) * room),
  }));
}

/** One row for each capability that any backend of the group mentions; an empty cell means absent from the manifest. */
function renderGroup(group: { title: string; backends: readonly Backend[] }, paint: Paint): string {
  const head = [group.title, ...group.backends.map((one) => one.id.slice(one.id.indexOf(':') + 1))];
  const rows = CAPABILITIES.filter(({ name }) => group.backends.some((one) => one.manifest[name] !== undefined));
  return table([head.map(paint.strong), ...rows.map(({ name }) => [name, ...group.backends.map((one) => cell(one, name, paint))])]);
}

function renderOne(backend: Backend, paint: Paint): string {
  const rows = CAPABILITIES.flatMap(({ name, description }) => {
    const level = backend.manifest[name];
    if (level === undefined) return [];
    return [[name, paint.level(levelWord(level)), typeof level === 'string' ? description : level.restricted.reason]];
  });
  return `${paint.strong(backend.name)} (${backend.id})\n\n${table(rows)}`;
}

function cell(backend: Backend, name: (typeof CAPABILITIES)[number]['name'], paint: Paint): string {
  const level = backend.manifest[name];
  return level === undefined ? paint.faint('-') : paint.level(levelWord(level));
}
