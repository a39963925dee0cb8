import { chatVoice } from '../voices/chat.ts';
import { chatCases } from './chat.ts';

/** A backplane serves it below a prefix of its own: the vendor's path is that of OpenAI. */
export const kimi = chatCases(
  chatVoice({
    id: 'kimi',
    path: '/kimi/v1/chat/completions',
    maxTokens: 'max_tokens',
    overloaded: 429,
    labelled: true,
    errorMembers: ['type'],
  }),
);
