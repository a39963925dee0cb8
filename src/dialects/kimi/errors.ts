import type { JsonObject } from '../../base/json.ts';
import type { IrError } from '../../ir/response.ts';
import type { WireError } from '../dialect.ts';
import { lowerChatError, wrapChatError } from '../families/chat/errors.ts';
import { flavour } from './flavour.ts';

export function lowerError(error: IrError): WireError {
  return lowerChatError(flavour, error);
}

export function wrapError(body: JsonObject): JsonObject {
  return wrapChatError(flavour, body);
}
