import { type Json, objectIn } from '../../base/json.ts';
import type { FoundPage, ShownPart } from '../../dialects/answer-shape.ts';

/** How much of a part that nobody can describe is quoted. */
const MOST_QUOTED = 2000;
/** Encrypted state says nothing to readers, and what stands beside it does. */
const MOST_OF_A_MEMBER = 1000;

/** A part of an answer as text that says what it is, for callers whose dialect has no form for it. */
export function labelOf(shown: ShownPart): string {
  switch (shown.kind) {
    case 'image':
      return `![generated image](${addressOf(shown)})`;
    case 'audio':
      return `${audioLabel(shown)}(${addressOf(shown)})`;
    case 'transcript':
      return audioLabel(shown);
    case 'code':
      return `[code that the engine ran]\n\`\`\`${shown.language}\n${shown.code}\n\`\`\``;
    case 'code_result':
      return `[${shown.failed ? 'the code failed' : 'result of the code'}]\n${shown.output}`;
    case 'hosted_call':
      return `[the engine used ${shown.name}: ${shown.input}]`;
    case 'hosted_result':
      return `[${shown.failed ? 'failure' : 'result'} of ${shown.name}]\n${shown.text}`;
    case 'passage':
      return [`[source] ${shown.heads.join(' · ')}`.trimEnd(), shown.text].filter((line) => line !== '').join('\n');
    case 'pages':
      return pagesLabel(shown.pages);
  }
}

/** The same for an earlier answer on its way back to a model, which has no use for the bytes of a medium in a text. */
export function pastLabelOf(shown: ShownPart): string {
  if (shown.kind === 'image' && 'data' in shown) return '[generated image]';
  return shown.kind === 'audio' && 'data' in shown ? audioLabel(shown) : labelOf(shown);
}

function audioLabel(shown: Extract<ShownPart, { kind: 'audio' | 'image' | 'transcript' }>): string {
  return 'words' in shown && shown.words ? `[generated audio: ${shown.words}]` : '[generated audio]';
}

export function pagesLabel(pages: readonly FoundPage[]): string {
  return `[pages that the engine found]\n${pages.map(({ url, title }) => `- ${title === undefined ? '' : `${title}: `}${url}`).join('\n')}`;
}

/** A call that the token limit cut off, which nobody may take for one to be made. */
export function cutCallLabel(name: string, text: string): string {
  return `[the token limit cut off a call of ${name}: ${text.slice(0, MOST_QUOTED)}]`;
}

export function unknownLabel(type: string, block: Json | undefined): string {
  const { type: _told, ...members } = objectIn(block) ?? {};
  const short = JSON.stringify(members, (_key, value: unknown) =>
    typeof value === 'string' && value.length > MOST_OF_A_MEMBER ? `${value.slice(0, MOST_OF_A_MEMBER)}…` : value,
  );
  return `[${type}] ${short.slice(0, MOST_QUOTED)}`;
}

function addressOf(medium: Extract<ShownPart, { kind: 'image' | 'audio' }>): string {
  return 'url' in medium ? medium.url : `data:${medium.mediaType};base64,${medium.data}`;
}
