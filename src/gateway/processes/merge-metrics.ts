/** A metric and its samples out of one text. */
interface Family {
  readonly head: string[];
  readonly samples: string[];
}

const ANSWERED = 'abp_process_answered';

/** One text of the metrics of several processes. Each sample gets the label `process`, so that a process that starts anew is seen as such. */
export function mergeMetrics(texts: ReadonlyMap<number, string | undefined>): string {
  const families = new Map<string, Family>();
  const numbers = [...texts.keys()].sort((a, b) => a - b);
  for (const number of numbers) addText(families, texts.get(number) ?? '', number);
  const answered = numbers.map((number) => `${ANSWERED}{process="${number}"} ${texts.get(number) === undefined ? 0 : 1}`);
  const own = [`# HELP ${ANSWERED} Whether the process was there to tell its numbers.`, `# TYPE ${ANSWERED} gauge`, ...answered];
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples, '']);
  return `${[...lines, ...own].join('\n')}\n`;
}

function addText(families: Map<string, Family>, text: string, number: number): void {
  let family: Family | undefined;
  for (const line of text.split('\n')) {
    const [, about, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (about !== undefined) {
      const known = families.get(name) ?? { head: [], samples: [] };
      families.set(name, known);
      if (!known.head.includes(line)) known.head.push(line);
      family = known;
    } else if (line !== '') family?.samples.push(labelled(line, number));
  }
}

/** A name has neither braces nor spaces; values of labels may have both. */
function labelled(sample: string, number: number): string {
  const at = sample.search(/[{ ]/);
  const label = `process="${number}"`;
  return sample[at] === '{'
    ? `${sample.slice(0, at)}{${label},${sample.slice(at + 1)}`
    : `${sample.slice(0, at)}{${label}}${sample.slice(at)}`;
}
