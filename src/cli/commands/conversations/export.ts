import { writeFileSync } from 'node:fs';
import { exportSession, type SessionFormat } from '../../../runtime/session-export.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { optional, required } from '../../parameter.ts';
import { sessionAt } from '../../runs/session-id.ts';

const FORMATS: readonly SessionFormat[] = ['json', 'jsonl', 'markdown'];

export const command = defineCommand({
  arguments: { session: required('<session>', 'agent:id, as abp conversations list shows it') },
  options: {
    format: optional('--format <name>', 'json, jsonl or markdown (default: json)'),
    out: optional('--out <file>', 'write here instead of to the standard output'),
  },
  examples: ['abp conversations export claude:5a1c2f6e-0b3d-4c1f-9f0e-2b7d1c9a4e11 --format markdown --out session.md'],
  async run(context, { session, format, out }) {
    const chosen = FORMATS.find((one) => one === (format ?? 'json'));
    if (chosen === undefined) throw new CliError('usage', `'${format}' is not a format`, { hint: `Use ${FORMATS.join(', ')}.` });
    const { createSessions } = await import('../../../runtime/sessions.ts');
    const { adapter, id } = sessionAt(await openCodingAgents(context), session);
    const text = exportSession(await createSessions(context.io.env).get(adapter, id), chosen);
    if (out === undefined) context.io.stdout.write(text);
    else writeFileSync(out, text);
    return EXITS.ok.code;
  },
});
