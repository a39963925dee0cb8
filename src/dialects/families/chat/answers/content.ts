import { isJsonObject, type Json, jsonOf, listIn } from '../../../../base/json.ts';
import type { VendorPart } from '../../../../ir/part.ts';
import type { ChatFlavour } from '../flavour.ts';
import type * as wire from '../wire.ts';

/** A piece of what a message says, or something of the vendor that stands between the pieces. */
export type Piece = Said | VendorPart;
interface Said {
  readonly kind: 'text' | 'thinking' | 'refusal';
  readonly text: string;
}

/**
 * The content of an answer. OpenAI writes one text; Mistral writes a list as soon as it reasons or quotes, in which the reasoning stands
 * before the text that it leads to.
 */
export function piecesOf(flavour: ChatFlavour, content: string | readonly wire.AnyPart[] | null | undefined): readonly Piece[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (content ?? []).map((part) => pieceOf(flavour, part)).filter((piece) => piece.kind === 'vendor' || piece.text !== '');
}

function pieceOf({ id }: ChatFlavour, part: wire.AnyPart): Piece {
  const { text, refusal, thinking, image_url: image } = part;
  if (part.type === 'text' && typeof text === 'string') return { kind: 'text', text };
  if (part.type === 'refusal' && typeof refusal === 'string') return { kind: 'refusal', text: refusal };
  const thoughts = part.type === 'thinking' ? thoughtsIn(thinking as Json) : undefined; // parsed JSON
  if (thoughts !== undefined) return { kind: 'thinking', text: thoughts };
  if (part.type === 'image_url') {
    const address = typeof image === 'string' ? { url: image } : jsonOf(image ?? {});
    return { kind: 'vendor', dialect: id, type: 'images', meta: { [id]: { images: [{ type: 'image_url', image_url: address }] } } };
  }
  // The schema only looked at its type.
  return { kind: 'vendor', dialect: id, type: part.type, meta: { [id]: { content: [jsonOf(part)] } } };
}

/** Reasoning is a text or a list of texts; undefined where something else is among them, which would be lost. */
function thoughtsIn(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const texts = listIn(value).map((one) =>
    isJsonObject(one) && one.type === 'text' && typeof one.text === 'string' ? one.text : undefined,
  );
  return texts.every((one) => one !== undefined) ? texts.join('') : undefined;
}

/** What the vendor wrote of a part that only it has. */
export function quotedIn({ id }: ChatFlavour, { meta }: VendorPart): Json {
  return listIn(meta?.[id]?.content)[0] ?? meta?.[id] ?? null;
}
