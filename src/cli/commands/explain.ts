import type { JsonObject } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { Capability } from '../../contract/capability.ts';
import { errorBody } from '../../contract/errors.ts';
import type { Fate } from '../../contract/negotiation.ts';
import { type Explanation, explain } from '../../mapping/explain.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { readJson } from '../input.ts';
import type { Paint } from '../output.ts';
import { flag, list, optional, required } from '../parameter.ts';
import { table } from '../table.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'the request body as the SDK would send it, - for the standard input') },
  options: {
    from: optional('--from <dialect>', 'the dialect of the request (default claude)'),
    to: optional('--to <engine>', 'the engine, or engine:dialect where it serves several (default sim)'),
    model: optional('--model <name>', 'the model the engine gets'),
    emulate: list('--emulate <capability>', 'a capability that may be approximated; repeatable'),
    strict: flag('--strict', 'allow no loss and no emulation'),
    body: flag('--body', 'print the exact upstream request only'),
  },
  examples: ['abp explain request.json --from claude --to gemini', 'abp explain request.json --from openai-chat --to claude --json'],
  async run({ io, output }, { file, from = 'claude', to = 'sim', model, emulate, strict, body }) {
    const { error, ...explanation } = explain({
      from,
      to,
      model,
      compatibility: strict ? 'strict' : 'best_effort',
      emulate: emulate.map((name) => parseAt(Capability, name, '--emulate')),
      request: await readJson(file, io),
    });
    const refused = error === undefined ? undefined : errorBody(error, CONTEXT).error;
    const data = body ? (explanation.upstream?.body ?? null) : { ...explanation, ...(refused === undefined ? {} : { error: refused }) };
    output.print(data, () => (body ? JSON.stringify(data, null, 2) : render(explanation, refused, output.paint)));
    return error === undefined ? EXITS.ok.code : EXITS.refused.code;
  },
});

/** No request was made, so there is no run to name. */
const CONTEXT = { requestId: 'req_none', timestamp: '', documentationBase: '' };

function render(explanation: Omit<Explanation, 'error'>, refused: JsonObject | undefined, paint: Paint): string {
  const { mode, negotiation, upstream, fidelity } = explanation;
  const colour: Readonly<Record<Fate, (text: string) => string>> = {
    exact: paint.good,
    renamed: paint.good,
    emulated: paint.warn,
    dropped: paint.warn,
    refused: paint.bad,
  };
  const rows = fidelity.map(({ path, fate, note, count }) => [
    colour[fate](fate),
    count === undefined || count === 1 ? path : `${path} ×${count}`,
    paint.faint(note ?? ''),
  ]);
  return [
    `${paint.strong(mode)}${upstream === null ? '' : `  ${upstream.method} ${upstream.path}`}`,
    ...(negotiation === null ? [] : [negotiation.report.summary]),
    '',
    table(rows),
    ...(refused === undefined ? [] : ['', `${paint.bad('refused')} ${String(refused.code)}: ${String(refused.message)}`]),
  ].join('\n');
}
