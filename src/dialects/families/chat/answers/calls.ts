import { type JsonObject, jsonOf } from '../../../../base/json.ts';
import { inventedCallId } from '../lift-response.ts';
import { type CallDelta, NO_ARGUMENTS } from '../wire.ts';

/** A call as far as the stream has told it. */
export interface OpenCall {
  readonly id: string;
  name: string;
  arguments: string;
  added: string;
  readonly custom: boolean;
  /** Members that some engines want back with the call, such as Google's thought signature. */
  readonly extra?: JsonObject;
}

/** Memory that a call takes besides its arguments. */
const CALL_HELD = 256;

/**
 * Puts the pieces of streamed calls together. The number of a piece is its key, except for engines that give every call the
 * number 0: a new id, or another name, is another call. Pieces of several calls may come mixed.
 */
export class Calls {
  readonly list: OpenCall[] = [];
  readonly #byNumber = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  /** Characters of all calls. */
  held = 0;

  /** The call a piece belongs to, grown by it. */
  add(piece: CallDelta, answerId: string | undefined): OpenCall {
    const name = piece.function?.name ?? piece.custom?.name ?? '';
    const call = this.#find(piece, name) ?? this.#open(piece, answerId);
    if (call.name === '') call.name = name;
    const text = textOf(piece);
    call.added = call.arguments === '' && text === NO_ARGUMENTS ? '' : text;
    call.arguments += call.added;
    this.held += call.added.length;
    return call;
  }

  #find({ id, index }: CallDelta, name: string): OpenCall | undefined {
    const last = this.list.at(-1);
    const numbered = index === undefined || index === null ? last : this.#byNumber.get(index);
    if (id) return numbered?.id === id ? numbered : this.#byId.get(id);
    if (numbered === undefined) return undefined;
    return name === '' || numbered.name === '' || numbered.name === name ? numbered : undefined;
  }

  #open(piece: CallDelta, answerId: string | undefined): OpenCall {
    const call: OpenCall = {
      id: piece.id || inventedCallId(answerId, this.list.length),
      name: '',
      arguments: '',
      added: '',
      custom: !piece.function && piece.custom !== undefined && piece.custom !== null,
      ...(piece.extra_content ? { extra: jsonOf(piece.extra_content) } : {}),
    };
    this.list.push(call);
    if (!this.#byId.has(call.id)) this.#byId.set(call.id, call);
    this.held += CALL_HELD;
    this.#byNumber.set(piece.index ?? this.list.length - 1, call);
    return call;
  }
}

/** The text that a piece adds to the arguments. */
function textOf(piece: CallDelta): string {
  return piece.function?.arguments ?? piece.custom?.input ?? '';
}
