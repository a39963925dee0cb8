import { OTHERS } from './catalogue.ts';
import type { Verdict } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

/** What was found of one agent. */
export interface Findings {
  readonly agent: string;
  readonly name: string;
  readonly version: string;
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /** Why nothing was found out. */
  readonly problem?: string;
}

/** What was found of an agent that has no adapter. */
export interface ExtraFindings {
  readonly name: string;
  readonly version: string;
  /** How it is pointed at a server. */
  readonly told: string;
  readonly verdict: Verdict;
}

/** `docs/coding-agents-tried.md`. */
export function reportOf(findings: readonly Findings[], extras: readonly ExtraFindings[], date: string): string {
  const names = SCENARIOS.map(({ name }) => name);
  const head = ['Agent', 'Version', 'Tried since', ...names];
  const rows = findings.map(({ name, version, verdicts, problem }) =>
    problem === undefined
      ? [name, version, oldestDate(Object.values(verdicts)), ...names.map((scenario) => verdicts[scenario]?.mark ?? '-')]
      : [name, version, '-', ...names.map(() => 'not run')],
  );
  const others = Object.entries(OTHERS).map(([agent, reason]) => `- ${agent}: ${reason}`);
  return [
    '# Coding agents, tried',
    '',
    `Written by \`npm run test:agents\` on ${date}. The real command-line agents ran through this gateway on the engine \`sim\`, which needs no key and no network.`,
    'The date of a row is that of its oldest mark: a row of an earlier day, or a part of it, was not tried again since and is carried over.',
    'A mark says what happened, not what an agent claims: `yes`, `no`, `n/a` where the agent does not claim to do it, or `-` where it was not tried since the scenario was added.',
    '',
    ...SCENARIOS.map(({ name, about }) => `- \`${name}\`: ${about}`),
    '',
    ...table([head, ...rows]),
    '',
    'Not in the table:',
    '',
    ...others,
    '',
    '## Without an adapter',
    '',
    'Any program that can be told the address of an OpenAI-compatible server runs through the gateway with a key of `abp keys create`. These wrote the file of `write` so:',
    '',
    ...table([
      ['Agent', 'Version', 'write', 'Pointed at the gateway by'],
      ...extras.map(({ name, version, told, verdict }) => [name, version, verdict.mark, told]),
    ]),
    '',
    '## Notes',
    '',
    ...findings.flatMap(notesOf),
    ...extras.filter(({ verdict }) => verdict.mark !== 'yes').map(({ name, verdict }) => `- ${name}: ${plain(verdict.note)}`),
    '',
  ].join('\n');
}

/** Verdicts of a run of a part stand beside those of earlier runs with the same version. */
function oldestDate(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ date = '-' }) => date).toSorted()[0] ?? '-';
}

function notesOf({ name, verdicts, problem }: Findings): string[] {
  if (problem !== undefined) return [`- ${name}: not run, ${problem}`];
  return SCENARIOS.flatMap(({ name: scenario }) => {
    const { mark, note } = verdicts[scenario] ?? { mark: 'n/a', note: '' };
    const dull = note === '' || (mark === 'yes' && /^\d+ calls$/.test(note));
    return dull ? [] : [`- ${name}, \`${scenario}\`: ${plain(note)}`];
  });
}

function table([head = [], ...rows]: string[][]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

/** One line, without the folders of the machine it ran on. */
function plain(note: string): string {
  return note
    .replaceAll(/(?:\/[\w.@-]+){2,}/g, '…')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .slice(0, 300);
}
