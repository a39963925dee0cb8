import type { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import type { CapabilityManifest } from '../../contract/support.ts';
import type { Requirements } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { resolveBackend } from '../../runtime/backends.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { levelWord, type Paint } from '../output.ts';
import { flag, list, optional, required } from '../parameter.ts';
import { parseRequire, readRequirements } from '../requirements.ts';
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
