/** Elements whose content is not for reading. */
const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']);
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  copy: '©',
  rsquo: '’',
  lsquo: '‘',
  rdquo: '”',
  ldquo: '“',
};
const LARGEST_CODE_POINT = 0x10ffff;

/** The readable text of a page. One pass from left to right, so that no page can make it slow. */
export function htmlToText(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    const end = open === -1 ? html.length : open;
    parts.push(html.slice(at, end).replaceAll(/\s+/g, ' '));
    const tag = tagAt(html, end);
    parts.push(tag === undefined ? html.slice(end, end + 1) : breakOf(tag));
    at = tag === undefined ? end + 1 : afterTag(html, tag);
  }
  return tidy(decodeEntities(parts.join('')));
}

/** The line break that a tag makes in the text. */
function breakOf({ name, closing }: Tag): string {
  if (name === 'li' && !closing) return '\n- ';
  return BLOCKS.has(name) || (name === 'title' && closing) ? '\n' : '';
}

interface Tag {
  readonly name: string;
  readonly closing: boolean;
  readonly end: number;
}

function tagAt(html: string, open: number): Tag | undefined {
  if (html.startsWith('<!--', open)) {
    const close = html.indexOf('-->', open + 4);
    return { name: '', closing: false, end: close === -1 ? html.length : close + 3 };
  }
  const name = /^<(\/?)([a-z][a-z0-9-]{0,40})|^<[!?]/i.exec(html.slice(open, open + 50));
  if (name === null) return undefined;
  const close = html.indexOf('>', open);
  return { name: name[2]?.toLowerCase() ?? '', closing: name[1] === '/', end: close === -1 ? html.length : close + 1 };
}

/** Where reading goes on: behind the tag, or behind the whole element when it is hidden. */
function afterTag(html: string, tag: Tag): number {
  if (tag.closing || !HIDDEN.has(tag.name)) return tag.end;
  const close = new RegExp(`</${tag.name}[\\s>]`, 'gi');
  close.lastIndex = tag.end;
  const found = close.exec(html);
  if (found === null) return html.length;
  const end = html.indexOf('>', found.index);
  return end === -1 ? html.length : end + 1;
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= LARGEST_CODE_POINT ? String.fromCodePoint(code) : whole;
  });
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\u00a0]+/g, ' ').trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
