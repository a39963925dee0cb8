import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import type { IrPart, VendorPart } from '../../../ir/part.ts';
import type { ChatFlavour } from './flavour.ts';

/** Images and audio that stand beside the content; each image is a part of its own. */
export function mediaParts(flavour: ChatFlavour, message: Readonly<Record<string, unknown>>): VendorPart[] {
  const part = (type: string, value: Json): VendorPart => ({
    kind: 'vendor',
    dialect: flavour.id,
    type,
    meta: { [flavour.id]: { [type]: value } },
  });
  const { audio, images } = message as { readonly audio?: Json; readonly images?: Json }; // parsed JSON
  return [
    ...(isJsonObject(audio) ? [part('audio', audio)] : []),
    ...(Array.isArray(images) ? images.map((image: Json) => part('images', [image])) : []),
  ];
}

/** Whether a part is one of those: it has no place in the content. */
export function isBeside(part: IrPart, { id }: ChatFlavour): part is VendorPart {
  return part.kind === 'vendor' && part.dialect === id && (part.type === 'audio' || part.type === 'images');
}

/** Images and audio as members of a message, where this vendor wrote them itself. */
export function ownMedia(flavour: ChatFlavour, parts: readonly IrPart[]): JsonObject {
  const own = parts
    .filter((part) => isBeside(part, flavour))
    .map(({ type, meta }) => ({ type, value: meta?.[flavour.id]?.[type] ?? null }));
  const images = own.filter(({ type }) => type === 'images').flatMap(({ value }) => listIn(value));
  const audio = own.find(({ type }) => type === 'audio');
  return { ...(audio === undefined ? {} : { audio: audio.value }), ...(images.length === 0 ? {} : { images }) };
}
