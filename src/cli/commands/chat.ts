import { createInterface, type Interface } from 'node:readline/promises';
import { openHome } from '../../home/home.ts';
import { agentIdOf } from '../agents/agent-api.ts';
import { Conversation, openSession, type TurnEnd } from '../chat/conversation.ts';
import { clientOf, type ServingServer, serverOf } from '../client.ts';
import { type Context, defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { optional, required } from '../parameter.ts';
import { openGateway } from '../runs/gateway.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: {
    message: optional('--message <text>', 'say this, show the answer and leave; without it, lines of the standard input'),
    session: optional('--session <id>', 'go on with an earlier session'),
    approve: optional('--approve <mode>', 'calls that need approval: ask (default), yes or no'),
  },
  examples: [
    'abp chat helper',
    'abp chat helper --message "What time is it in Tokyo?"',
    'abp chat helper --session session_… --approve no',
  ],
  async run(context, { agent, message, session, approve = 'ask' }) {
    if (!['ask', 'yes', 'no'].includes(approve)) {
      throw new CliError('usage', `'${approve}' is not a way to approve`, { hint: 'It is ask, yes or no.' });
    }
    const { address, secret, close } = await opened(context);
    try {
      const client = clientOf(address, secret);
      const agentId = session === undefined ? await agentIdOf({ ...client, close: async () => undefined }, agent) : undefined;
      const begun = await openSession(client, agentId, session);
      return await talk(context, { message, approve }, (ask) => {
        const { io, output } = context;
        const shown = { io, paint: output.paint, json: output.json };
        return new Conversation({ client, token: secret, session: begun, ...shown, approve: ask });
      });
    } finally {
      await close();
    }
  },
});

/** The server that the commands of the home go to, else one inside this command. */
async function opened(context: Context): Promise<ServingServer & { readonly close: () => Promise<void> }> {
  const serving = serverOf(openHome({ path: context.homePath }));
  if (serving?.address.user !== undefined) return { ...serving, close: async () => undefined };
  const gateway = await openGateway(context);
  const address = { url: gateway.port.url, pid: process.pid };
  return { address, secret: gateway.home.token, close: () => gateway.close() };
}

interface Wishes {
  readonly message: string | undefined;
  readonly approve: string;
}

async function talk(
  { io, output }: Context,
  { message, approve }: Wishes,
  open: (ask: (question: string) => Promise<boolean>) => Conversation,
): Promise<number> {
  const person = process.stdin.isTTY === true && io.stderr.isTTY === true;
  const lines =
    message === undefined || (person && approve === 'ask')
      ? createInterface({ input: process.stdin, output: person ? process.stderr : undefined })
      : undefined;
  const conversation = open(async (question) => {
    if (approve !== 'ask') return approve === 'yes';
    return person && lines !== undefined && /^y(es)?$/i.test((await lines.question(question)).trim());
  });
  const leave = cancelOnInterrupt(conversation, lines);
  try {
    if (message !== undefined) {
      const end = await conversation.turn(message);
      if (io.stderr.isTTY === true) io.stderr.write(`${output.paint.faint(`--session ${conversation.sessionId} goes on with it`)}\n`);
      return exitOf(end);
    }
    if (person) io.stderr.write(`${output.paint.faint(`${conversation.sessionId} · an empty line leaves`)}\n`);
    return await dialogue(conversation, lines, person ? output.paint.strong('> ') : '');
  } finally {
    leave();
    conversation.close();
    lines?.close();
  }
}

/** Turn after turn, until there is nothing more to say. */
async function dialogue(conversation: Conversation, lines: Interface | undefined, prompt: string): Promise<number> {
  let end: TurnEnd = 'completed';
  let closed = false;
  lines?.once('close', () => {
    closed = true;
  });
  const ask = (): void => {
    if (prompt !== '' && !closed) lines?.prompt();
  };
  lines?.setPrompt(prompt);
  ask();
  for await (const line of lines ?? []) {
    const text = line.trim();
    if (text === '' && prompt !== '') break;
    if (text !== '') end = await conversation.turn(text);
    ask();
  }
  return exitOf(end);
}

function exitOf(end: TurnEnd): number {
  if (end === 'cancelled') return EXITS.interrupted.code;
  return end === 'completed' ? EXITS.ok.code : EXITS.general.code;
}

/** The first Ctrl-C ends the turn, the second one the command. */
function cancelOnInterrupt(conversation: Conversation, lines: Interface | undefined): () => void {
  let asked = false;
  const onInterrupt = (): void => {
    if (asked) process.exit(EXITS.interrupted.code);
    asked = true;
    // At rest there is no turn to end: leave.
    conversation.cancel().catch(() => process.exit(EXITS.interrupted.code));
  };
  process.on('SIGINT', onInterrupt);
  lines?.on('SIGINT', onInterrupt);
  return () => {
    process.off('SIGINT', onInterrupt);
    lines?.off('SIGINT', onInterrupt);
  };
}
