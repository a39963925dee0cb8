/** What stands for an escape in the texts below. */
const SHORTHANDS: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  b: '',
  B: '',
  D: 'x',
  W: '-',
  S: 'x',
  n: '\n',
  r: '\r',
  t: '\t',
};
/** Ends that make a match fail which had begun: what no expression of ours expects, and nothing at all. */
const ENDS = ['\u0000', ''];
/** Characters that stand for the others: a class that excludes some takes these. */
const STRANGERS = 'x ';
const MOST_WORDS = 4;
const MOST_CHARACTERS = 11;

const ESCAPE = /\\(.)/g;
const OPERATORS = /[()[\]{}|*+?^$.]+/;

/** Characters that the expression names, and the words between its operators. */
function units(source: string): string[] {
  const plain = source.replace(ESCAPE, (_, escaped: string) => SHORTHANDS[escaped] ?? (/[A-Za-z0-9]/.test(escaped) ? '' : escaped));
  const words = plain.split(OPERATORS).filter((word) => word.length > 1);
  const operators = [...plain].filter((character) => OPERATORS.test(character));
  const characters = [...STRANGERS, ...[...plain].filter((character) => !OPERATORS.test(character)), ...operators];
  return [...[...new Set(words)].slice(0, MOST_WORDS), ...[...new Set(characters)].slice(0, MOST_CHARACTERS)];
}

/** Every unit and every pair of units, many times over, with each end, and after each word of the expression. */
export function* worstStrings(source: string, length: number): Generator<string> {
  const all = units(source);
  const repeated = [...all, ...all.flatMap((first) => all.map((second) => first + second))];
  const openings = ['', ...all.filter((unit) => unit.length > 1).slice(0, 1)];
  for (const unit of repeated) {
    const pumped = unit.repeat(Math.ceil(length / unit.length));
    for (const end of ENDS) for (const opening of openings) yield `${opening}${pumped}${end}`;
  }
}
