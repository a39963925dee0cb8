import { isJsonObject } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import type { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import { type CapabilityManifest, CapabilityRequirements } from '../../contract/support.ts';
import { ForeignWorkOrder } from '../../contract/work-orders/work-order.ts';
import type { Requirements } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { resolveBackend } from '../../runtime/backends.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { inputName, readJson } from '../input.ts';
import type { Io } from '../io.ts';
import { levelWord, type Paint } from '../output.ts';
import { flag, list, optional, required } from '../parameter.ts';
import { table } from '../table.ts';

export const command = defineCommand({
  arguments: { backend: required('<backend>', 'whom to ask, e.g. engine:claude or host:codex') },
  options: {
    require: list('--require <name[=level]>', 'a capability, at least native or emulated (the default); repeatable'),
    file: optional('--file <path>', 'a work order or its requirements as JSON, - for the standard input'),
    strict: flag('--strict', 'accept native support only'),
  },
  examples: [
    'abp negotiate engine:claude --require streaming=native --require json_mode',
    'abp negotiate host:codex --file work-order.json --strict --json',
  ],
  async run({ io, output }, { backend, require, file, strict }) {
    const { manifest } = resolveBackend(backend);
    const asked = [...parseRequire(require).required, ...(file === undefined ? [] : (await readRequirements(file, io)).required)];
    if (asked.length === 0 && file === undefined) {
      throw new CliError('usage', 'nothing is required', { hint: 'Add --require NAME, or --file with a work order.' });
    }
    const requirements = { required: strict ? asked.map(onlyNative) : asked };
    // As `POST /v1/negotiate` answers, without a server.
    const answer = negotiationAccount(manifest, requirements);
    output.print(answer, (data) => render(data, { requirements, manifest, paint: output.paint }));
    return answer.unmet.length === 0 ? EXITS.ok.code : EXITS.refused.code;
  },
});

function onlyNative(requirement: Requirements['required'][number]): Requirements['required'][number] {
  return requirement.min_support === 'any' ? requirement : { ...requirement, min_support: 'native' };
}

interface View {
  readonly requirements: Requirements;
  readonly manifest: CapabilityManifest;
  readonly paint: Paint;
}

function render(answer: ReceiptNegotiation, { requirements, manifest, paint }: View): string {
  const missed = new Set(answer.unmet.map((one) => `${one.capability} ${one.min_support}`));
  const rows = requirements.required.map(({ capability, min_support }) => {
    const verdict = missed.has(`${capability} ${min_support}`) ? paint.bad('not met') : paint.good('met');
    return [capability, min_support, verdict, levelText(manifest[capability], paint)];
  });
  const verdict = answer.unmet.length === 0 ? paint.good('every requirement is met') : paint.bad(`${answer.unmet.length} not met`);
  const head = ['Capability', 'Needs', 'Verdict', 'Offered'].map(paint.strong);
  return `${table([head, ...rows])}\n\n${answer.report.summary}; ${verdict}`;
}

function levelText(level: CapabilityManifest[keyof CapabilityManifest], paint: Paint): string {
  if (level === undefined) return paint.faint('not offered');
  return typeof level === 'string' ? paint.level(level) : `${paint.level(levelWord(level))}: ${level.restricted.reason}`;
}

/** `name` or `name=level` as requirements; without a level, emulation is good enough. */
function parseRequire(items: readonly string[]): Requirements {
  const required = items.map((item) => {
    const [capability, level = 'emulated'] = item.split('=', 2).map((word) => word.trim());
    return { capability, min_support: level };
  });
  return parseAt(CapabilityRequirements, { required }, '--require');
}

/** The requirements in a file: a work order, a body of `POST /v1/negotiate`, or the bare requirements. `-` is the standard input. */
async function readRequirements(path: string, io: Io): Promise<Requirements> {
  const value = await readJson(path, io);
  const name = inputName(path);
  if (isJsonObject(value) && value.task !== undefined) return parseAt(ForeignWorkOrder, value, name).requirements;
  return parseAt(CapabilityRequirements, isJsonObject(value) ? (value.requirements ?? value) : value, name);
}
