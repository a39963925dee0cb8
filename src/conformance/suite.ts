import { AbpError } from '../contract/errors.ts';
import type { Mode } from '../contract/support.ts';
import type { Answer, Case, Category, Need, Target } from './case.ts';
import type { DialectCases } from './cases/every-dialect.ts';
import { dialectCases } from './cases/index.ts';
import { addresses, exchange, type Line, openAgent } from './exchange.ts';
import { probe } from './probe.ts';

export interface ConformanceOptions {
  /** The URL an SDK would be given, with or without `/v1`. */
  readonly baseUrl: string;
  /** Dialects to ask in; every one that the gateway serves when left out. One that is named must be served. */
  readonly dialects?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly only?: readonly Category[] | undefined;
  /** Whether equal requests give equal answers; found out from the receipt when left out. */
  readonly deterministic?: boolean | undefined;
}

/** The outcome of one case. */
export interface Result {
  readonly dialect: string;
  readonly id: string;
  readonly category: Category;
  readonly title: string;
  readonly outcome: 'pass' | 'fail' | 'skip';
  /** The expectations that did not hold. */
  readonly problems: readonly string[];
  /** Why it was skipped. */
  readonly reason?: string;
  /** Passthrough or mapped, where the gateway tells. */
  readonly mode?: Mode;
}

const DEFAULT_MODEL = 'sim-1';

/** Asks a gateway everything the suite knows. Throws when the gateway cannot be reached or a dialect has no cases. */
export async function runConformance(options: ConformanceOptions): Promise<Result[]> {
  const agent = openAgent();
  try {
    const results: Result[] = [];
    for (const dialect of chosen(options.dialects)) {
      const headers = options.key === undefined ? {} : { ...dialect.voice.credentials(options.key), 'x-abp-key': options.key };
      results.push(...(await runDialect({ ...addresses(options.baseUrl), headers, agent }, dialect, options)));
    }
    return results;
  } finally {
    await agent.close();
  }
}

function chosen(names: readonly string[] | undefined): readonly DialectCases[] {
  if (names === undefined || names.length === 0) return dialectCases;
  return names.map((name) => {
    const found = dialectCases.find(({ voice }) => voice.id === name);
    if (found !== undefined) return found;
    const known = dialectCases.map(({ voice }) => voice.id).join(', ');
    throw new AbpError('not_found', `The suite has no cases for the dialect "${name}". It has them for ${known}.`, { dialect: name });
  });
}

async function runDialect(line: Line, { voice, cases }: DialectCases, options: ConformanceOptions): Promise<Result[]> {
  const { only, dialects, model = DEFAULT_MODEL, deterministic } = options;
  const wanted = cases.filter(({ category }) => only === undefined || only.includes(category));
  const found = await probe(line, voice, { model, deterministic });
  const results: Result[] = [];
  for (const one of wanted) {
    const { id, category, title } = one;
    const named = { dialect: voice.id, id, category, title };
    if ('target' in found) results.push({ ...named, ...modeOf(found.target), ...(await runCase(line, one, found.target)) });
    else if (dialects?.includes(voice.id)) results.push({ ...named, outcome: 'fail', problems: [found.absent] });
    else results.push({ ...named, ...skipped(found.absent) });
  }
  return results;
}

function modeOf({ mode }: Target): { mode?: Mode } {
  return mode === undefined ? {} : { mode };
}

type Verdict = Pick<Result, 'outcome' | 'problems' | 'reason'>;

function skipped(reason: string): Verdict {
  return { outcome: 'skip', problems: [], reason };
}

async function runCase(line: Line, one: Case, target: Target): Promise<Verdict> {
  const reason = one.skip ?? one.needs.map((need) => lack(need, target)).find((text) => text !== undefined);
  if (reason !== undefined) return skipped(reason);
  const answers: Answer[] = [];
  try {
    for (const step of one.steps) {
      const call = step(answers, target);
      if (call === undefined) break;
      answers.push(await exchange(line, call));
    }
  } catch (error) {
    return { outcome: 'fail', problems: [`the gateway did not answer: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const finding = one.check(answers, target);
  if ('skip' in finding) return skipped(finding.skip);
  const short = answers.length < one.steps.length && finding.length === 0 ? ['the conversation could not go on after an answer'] : [];
  const problems = [...finding, ...short];
  return { outcome: problems.length === 0 ? 'pass' : 'fail', problems };
}

/** Why a need is not met. */
function lack(need: Need, target: Target): string | undefined {
  switch (need) {
    case 'ours':
      return target.ours ? undefined : 'the gateway names no run and keeps no receipt';
    case 'deterministic':
      return target.deterministic ? undefined : 'the engine may answer differently each time';
    case 'sim':
      return target.engine === 'sim' ? undefined : 'only the sim engine fails on request';
    case 'mapped':
      return target.mode === 'mapped' ? undefined : 'the calls are not mapped';
  }
}
