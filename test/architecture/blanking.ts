/** What to overwrite with spaces. Offsets and line numbers stay, so a hit in the blanked text is a hit in the original. */
export interface Blanked {
  /** Comments are gone; strings are still there. */
  readonly withoutComments: string;
  /** Comments and the insides of strings, templates and regular expressions are gone; their delimiters stay. */
  readonly codeOnly: string;
  /** The regular expressions that are written out, with the offset of each. */
  readonly expressions: readonly { readonly literal: string; readonly offset: number }[];
}

const TOKENS = [
  { kind: 'comment', pattern: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y },
  { kind: 'string', pattern: /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y },
] as const;

const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
/** A slash after one of these begins a regular expression; after a name, a number or a closing bracket it divides. */
const BEFORE_REGEX = /(?:^|[=(,:;!&|?{}[+\-*%~^<>]|\b(?:return|typeof|case|in|of|throw|await|yield))\s*$/;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/y;

const spaces = (text: string): string => text.replace(/[^\n]/g, ' ');
const inside = (text: string): string => `${text.slice(0, 1)}${spaces(text.slice(1, -1))}${text.slice(-1)}`;

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Cuts TypeScript into code, comments and strings, well enough for the rules of this folder; it is not a parser. */
export function blank(text: string): Blanked {
  let withoutComments = '';
  let codeOnly = '';
  const expressions: { literal: string; offset: number }[] = [];
  /** One entry per open `${`: how many braces are open inside it. */
  const holes: number[] = [];
  const put = (original: string, kind: 'code' | 'comment' | 'string' | 'template'): void => {
    withoutComments += kind === 'comment' ? spaces(original) : original;
    codeOnly += kind === 'code' ? original : kind === 'string' ? inside(original) : spaces(original);
  };
  const template = (): void => {
    put(match(TEMPLATE_TEXT, text, codeOnly.length) ?? '', 'template');
    const end = text.startsWith('${', codeOnly.length) ? '${' : '`';
    if (end === '${') holes.push(0);
    put(text.slice(codeOnly.length, codeOnly.length + end.length), 'code');
  };
  const brace = (character: string): void => {
    const depth = holes.at(-1);
    put(character, 'code');
    if (depth === undefined || (character !== '{' && character !== '}')) return;
    if (character === '}' && depth === 0) {
      holes.pop();
      template();
    } else {
      holes[holes.length - 1] = depth + (character === '{' ? 1 : -1);
    }
  };
  while (codeOnly.length < text.length) {
    const at = codeOnly.length;
    const token = TOKENS.map(({ kind, pattern }) => ({ kind, found: match(pattern, text, at) })).find(({ found }) => found !== undefined);
    const regex = text[at] === '/' && BEFORE_REGEX.test(codeOnly.slice(-24)) ? match(REGEX, text, at) : undefined;
    if (token?.found !== undefined) put(token.found, token.kind);
    else if (regex !== undefined) {
      expressions.push({ literal: regex, offset: at });
      put(regex, 'string');
    } else if (text[at] === '`') {
      put('`', 'code');
      template();
    } else brace(text.charAt(at));
  }
  return { withoutComments, codeOnly, expressions };
}

/** The line of an offset, counted from 1. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
