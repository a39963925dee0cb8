import { chatVoice } from '../voices/chat.ts';
import { chatCases } from './chat.ts';

/** A backplane serves it below a prefix of its own. */
export const copilot = chatCases(
  chatVoice({
    id: 'copilot',
    path: '/copilot/chat/completions',
    maxTokens: 'max_tokens',
    overloaded: 503,
    labelled: false,
    errorMembers: ['code'],
  }),
);
