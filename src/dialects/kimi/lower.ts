import type { JsonObject } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { IrResponse } from '../../ir/response.ts';
import type { AnswerContext, LowerContext, LoweredRequest } from '../dialect.ts';
import { lowerChat } from '../families/chat/lower.ts';
import { lowerChatResponse } from '../families/chat/lower-response.ts';
import { flavour } from './flavour.ts';

export function lowerRequest(request: IrRequest, context: LowerContext): LoweredRequest {
  return lowerChat(flavour, request, context);
}

export function lowerResponse(response: IrResponse, context: AnswerContext): JsonObject {
  return lowerChatResponse(flavour, response, context);
}
