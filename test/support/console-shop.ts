import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleWorld } from './console-world.ts';
import { call } from './http-call.ts';

/** What customers and colleagues say, and the sentences by which the simulated model answers each of them. */
const LINES: Readonly<Record<string, string>> = {
  'Hello, I have a question about order 20481177.': 'Say exactly: "Hello! Of course. What is the matter with it?"',
  'When did it leave your warehouse?':
    'Call the tool list_orders with {"number":"20481177"}, then say exactly: "It left on 11 November and was delivered on the 13th."',
  'The lamp came in three pieces. I would like my money back please.':
    'Call the tool get_order with {"id":"20481177"}, then call the tool get_current_time with {"timezone":"Europe/Madrid"}, then say exactly: "It was delivered two days ago, so it is within the return period. I can refund the full price to the card you paid with."',
  'Yes, please do that.':
    'Call the tool refund_order with {"order":"20481177","amount_usd":84,"reason":"damaged in transit"}, then say exactly: "The refund is on its way."',
  'Where is my invoice?': 'Say exactly: "It went to the address of your account on 9 November. I have sent it again."',
  'Two parcels came for one order.': 'Say exactly: "That is right: the lamp and its shade ship from two places."',
  'Which fixes are in 4.2.0?':
    'Say exactly: "Release 4.2.0 has three fixes: the lease race under load, a wrong time zone in exports, and a retry that never ended."',
};

/** An engine of its own before the simulated one: it knows the lines above, and passes everything else on as it is. */
export async function startPrompter(target: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' && name !== 'host' && name !== 'content-length' && name !== 'connection' ? [name, value] : [],
      );
      const body = prompted(Buffer.concat(chunks).toString('utf8'));
      const answer = await call(`${target}${request.url}`, { method: request.method ?? 'POST', headers, body });
      response.writeHead(answer.status, { 'content-type': answer.headers['content-type'] ?? 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function prompted(body: string): string {
  let text = body;
  for (const [line, sentences] of Object.entries(LINES)) {
    text = text.replaceAll(JSON.stringify(line), () => JSON.stringify(sentences));
  }
  return text;
}

const object = (properties: object): object => ({ type: 'object', properties });
const text = { type: 'string' };
const tool = (name: string, description: string, source: string, more: object): object => ({
  ...{ type: 'typescript', name, description, source: `export default () => (${source})` },
  ...more,
});

const ORDERS = {
  id: 'orders',
  name: 'Orders',
  description: 'Finds orders of the shop and gives money back.',
  version: '1.2.0',
  system_prompt: 'Order numbers have eight digits.',
  tools: [
    tool('list_orders', 'Orders by number.', '[{ id: "20481177", left: "2026-11-11", delivered: "2026-11-13" }]', {
      parameters: object({ number: text }),
      effect: 'idempotent',
    }),
    tool('get_order', 'One order.', '{ id: "20481177", item: "Desk lamp", paid_usd: 84, delivered: "2026-11-13" }', {
      parameters: object({ id: text }),
      effect: 'idempotent',
    }),
    tool('refund_order', 'Gives the price of an order back.', '{ refunded: true }', {
      parameters: object({ order: text, amount_usd: { type: 'number' }, reason: text }),
      policy: 'requires_approval',
      effect: 'at_most_once',
    }),
  ],
};

/** A shop with its agents: sessions that have ended, and one in which a refund waits for a yes. Its id with its agent's. */
export async function openShop({ admin }: ConsoleWorld): Promise<{ readonly agent: string; readonly session: string }> {
  await published(admin, ORDERS);
  const made = async (name: string, model: string, prompt: string, capabilities: readonly string[]): Promise<string> =>
    (await admin<{ id: string }>('POST', '/v1/agents', { name, model, system_prompt: prompt, capabilities })).id;
  await made('pair', 'claude/claude-sonnet-4-5', 'You review what a colleague wrote.', ['file_system']);
  await made('researcher', 'gemini/gemini-2.5-pro', 'You find things out and cite what you read.', ['research', 'current_time']);
  const clerk = await made('release-clerk', 'claude/claude-haiku-4-5', 'You answer from the changelog.', ['current_time']);
  const desk = await made('support-desk', 'claude/claude-sonnet-4-5', 'You answer for the shop. Be brief and kind. Never promise a date.', [
    'current_time',
    'orders',
    'file_system',
  ]);
  const talk = async (agent: string, title: string, lines: readonly string[]): Promise<string> => {
    const { id } = await admin<{ id: string }>('POST', '/v1/sessions', { agent_id: agent, title });
    for (const line of lines) {
      await admin('POST', `/v1/sessions/${id}/messages`, { message: { content: line } });
      await restsOrWaits(admin, id);
    }
    return id;
  };
  await talk(clerk, 'What is in 4.2.0', ['Which fixes are in 4.2.0?']);
  await talk(desk, 'Two parcels, one order', ['Two parcels came for one order.']);
  await talk(desk, 'Where is my invoice', ['Where is my invoice?']);
  const session = await talk(desk, 'Order 20481177 arrived broken', [
    'Hello, I have a question about order 20481177.',
    'When did it leave your warehouse?',
    'The lamp came in three pieces. I would like my money back please.',
    'Yes, please do that.',
  ]);
  return { agent: desk, session };
}

/** A schema is checked within two seconds of the clock, which a machine that does much else may not have: it is asked again. */
async function published(admin: ConsoleWorld['admin'], capability: object, left = 5): Promise<void> {
  try {
    await admin('POST', '/v1/capabilities', capability);
  } catch (error) {
    if (left === 0 || !String(error).includes('took longer than')) throw error;
    await published(admin, capability, left - 1);
  }
}

async function restsOrWaits(admin: ConsoleWorld['admin'], session: string): Promise<void> {
  for (;;) {
    const { status } = await admin<{ status: string }>('GET', `/v1/sessions/${session}`);
    if (status !== 'active') return;
    await pause(50);
  }
}
