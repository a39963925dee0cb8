import { CATEGORIES } from '../../conformance/case.ts';
import { conforms, type Summary, summarize, type Tally } from '../../conformance/report.ts';
import { type Result, runConformance } from '../../conformance/suite.ts';
import { AbpError } from '../../contract/errors.ts';
import { certificateError } from '../client.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import type { Paint } from '../output.ts';
import { list, optional, required } from '../parameter.ts';
import { table } from '../table.ts';

export const command = defineCommand({
  arguments: { baseUrl: required('<base-url>', 'the URL an SDK would be given, with or without /v1') },
  options: {
    dialect: list('--dialect <name>', 'a dialect that must be served; repeatable (default every one that is)'),
    key: optional('--key <key>', 'sent as each vendor’s SDK sends it'),
    model: optional('--model <name>', 'the model to ask (default sim-1)'),
  },
  examples: [
    'abp conformance http://127.0.0.1:8088/e/sim',
    'abp conformance https://gateway.example.com --dialect openai-chat --key sk-1 --model gpt-5 --json',
  ],
  async run({ output }, { baseUrl, dialect, key, model }) {
    if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
      throw new CliError('usage', `'${baseUrl}' is not an HTTP URL`, { hint: 'Give the URL of the gateway: http://127.0.0.1:8088/e/sim.' });
    }
    const results = await ask({ baseUrl, dialects: dialect, key, model });
    const summary = summarize(results);
    output.print({ ok: conforms(summary), ...summary, results }, () => render(results, summary, output.paint));
    return conforms(summary) ? EXITS.ok.code : EXITS.general.code;
  },
});

async function ask(options: Parameters<typeof runConformance>[0]): Promise<Result[]> {
  try {
    return await runConformance(options);
  } catch (cause) {
    const untrusted = certificateError(options.baseUrl, cause);
    if (AbpError.is(cause) || untrusted !== undefined) throw untrusted ?? cause;
    const message = `${options.baseUrl} does not answer: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new CliError('no_server', message, { hint: 'Check the URL, and that the gateway runs; abp serve starts one.', cause });
  }
}

function render(results: readonly Result[], summary: Summary, paint: Paint): string {
  const head = ['Dialect', 'Mode', ...CATEGORIES].map(paint.strong);
  const rows = summary.dialects.map(({ dialect, mode, categories }) => [
    dialect,
    mode ?? paint.faint('unknown'),
    ...CATEGORIES.map((category) => cell(categories[category], paint)),
  ]);
  const failures = results.flatMap(({ dialect, id, title, outcome, problems }) =>
    outcome === 'fail' ? [`${paint.bad('fail')} ${dialect} ${paint.strong(id)}: ${title}`, ...problems.map((text) => `     ${text}`)] : [],
  );
  const reasons = Object.entries(summary.reasons).map(([reason, count]) => paint.faint(`${count} skipped: ${reason}`));
  const verdict = conforms(summary) ? paint.good('conforms') : paint.bad('does not conform');
  const sections = [table([head, ...rows]), failures.join('\n'), reasons.join('\n'), `${verdict}: ${counts(summary)}`];
  return sections.filter((section) => section !== '').join('\n\n');
}

function counts({ pass, fail, skip }: Tally): string {
  return `${pass} passed, ${fail} failed, ${skip} skipped`;
}

/** `12 pass 1 fail 2 skip`, without what is zero. */
function cell(tally: Tally | undefined, paint: Paint): string {
  if (tally === undefined) return '';
  const tints = { pass: paint.good, fail: paint.bad, skip: paint.faint } as const;
  const words = (['pass', 'fail', 'skip'] as const).flatMap((name) => (tally[name] === 0 ? [] : [tints[name](`${tally[name]} ${name}`)]));
  return words.join(' ');
}
