import { openaiResponses as voice } from '../voices/openai-responses.ts';
import { type DialectCases, everyDialect } from './every-dialect.ts';
import { neverSays } from './streams.ts';

export const openaiResponses: DialectCases = { voice, cases: [...everyDialect(voice), neverSays(voice, '[DONE]')] };
