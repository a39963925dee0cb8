import type { Json } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { IrResponse } from '../../ir/response.ts';
import type { LiftContext } from '../dialect.ts';
import { liftChat } from '../families/chat/lift.ts';
import { liftChatResponse } from '../families/chat/lift-response.ts';
import { flavour } from './flavour.ts';

export function liftRequest(body: Json, context: LiftContext): IrRequest {
  return liftChat(flavour, body, context);
}

export function liftResponse(body: Json): IrResponse {
  return liftChatResponse(flavour, body);
}
