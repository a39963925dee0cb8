import { exportSession, type SessionFormat } from '../../../runtime/session-export.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { writeText } from '../../io.ts';
import { optional, required } from '../../parameter.ts';
import { sessionAt } from '../../runs/session-id.ts';

const FORMATS: readonly SessionFormat[] = ['json', 'jsonl', 'markdown'];

export const command = defineCommand({
  arguments: { session: required('<session>', 'agent:id, as abp conversations list shows it') },
  options: {
    format: optional('--format <name>', 'json, jsonl or markdown (default: json)'),
    output: optional('--output <file>', 'write here instead of the standard output'),
  },
  examples: ['abp conversations export claude:5a1c2f6e-0b3d-4c1f-9f0e-2b7d1c9a4e11 --format markdown --output session.md'],
  async run(context, { session, format, output: file }) {
    const chosen = FORMATS.find((one) => one === (format ?? 'json'));
    if (chosen === undefined) throw new CliError('usage', `'${format}' is not a format`, { hint: `Use ${FORMATS.join(', ')}.` });
    const { createSessions } = await import('../../../runtime/sessions.ts');
    const { adapter, id } = sessionAt(await openCodingAgents(context), session);
    const text = exportSession(await createSessions(context.io.env).get(adapter, id), chosen);
    if (file === undefined) context.io.stdout.write(text);
    else writeText(file, text);
    return EXITS.ok.code;
  },
});
