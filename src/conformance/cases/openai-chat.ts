import { chatVoice } from '../voices/chat.ts';
import { chatCases } from './chat.ts';

export const openaiChat = chatCases(
  chatVoice({
    id: 'openai-chat',
    path: '/v1/chat/completions',
    maxTokens: 'max_completion_tokens',
    overloaded: 503,
    labelled: true,
    errorMembers: ['type', 'code'],
  }),
);
