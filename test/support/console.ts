import axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { patient, startBrowser } from './browser.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';

const BUILD_MS = 120_000;

/** A server with its console built, and a browser. */
export interface ConsoleStage {
  readonly server: TestGateway;
  readonly browser: Browser;
  /** A page that is signed in; what it complained about and whom it asked are kept. */
  signedIn(options?: VisitorOptions): Promise<Visitor>;
  close(): Promise<void>;
}

export interface VisitorOptions {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  /** What the browser may do; everything unless told. */
  readonly scope?: 'all' | 'answer';
}

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages of the browser's console, errors of the page, and requests to anybody else. */
  readonly complaints: string[];
  /** Goes to a page of the console and waits until it has a heading and asks for nothing any more. */
  open(path: string): Promise<void>;
}

/** A page that has asked for nothing for this long has what it wanted. */
const QUIET_MS = 150;

export async function visit(browser: Browser, url: string, { width = 1440, theme = 'light' }: VisitorOptions = {}): Promise<Visitor> {
  const height = width < 720 ? 844 : 900;
  const context = patient(await browser.newContext({ viewport: { width, height }, locale: 'en-US', colorScheme: theme }));
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url && !request.url().startsWith('data:')) complaints.push(`asks ${request.url()}`);
  });
  const quiet = quietness(page);
  const open = async (path: string): Promise<void> => {
    await page.goto(`${url}${path}`);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await quiet();
  };
  return { page, context, complaints, open };
}

/** Waits until the page waits for no answer; streams of events never end and do not count. */
function quietness(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let since = performance.now();
  const changed = (request: Request, begins: boolean): void => {
    if (request.resourceType() === 'eventsource') return;
    since = performance.now();
    if (begins) open.add(request);
    else open.delete(request);
  };
  page.on('request', (request) => changed(request, true));
  page.on('requestfinished', (request) => changed(request, false));
  page.on('requestfailed', (request) => changed(request, false));
  return async () => {
    while (open.size > 0 || performance.now() - since < QUIET_MS) await new Promise((resolve) => setTimeout(resolve, 20));
  };
}

export async function startConsole(options: GatewayOptions = {}): Promise<ConsoleStage> {
  const server = await startGateway(options);
  const [browser] = await Promise.all([startBrowser(), built(server.url)]);
  return {
    server,
    browser,
    signedIn: async (options) => {
      const visitor = await visit(browser, server.url, options);
      const { code } = server.gateway.browsers.sessions.invite(options?.scope ?? 'all', 60_000);
      await visitor.page.goto(`${server.url}/#code=${code}`);
      await visitor.page.getByText(/signed in|paired/).waitFor({ state: 'attached' });
      return visitor;
    },
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** In a clone the pages are built when they are first asked for. */
async function built(url: string): Promise<void> {
  const deadline = Date.now() + BUILD_MS;
  for (;;) {
    const text = await (await fetch(`${url}/`)).text();
    if (text.includes('id="root"')) return;
    if (Date.now() > deadline) throw new Error(`The console was not built in time: ${text.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

const claude = (content: string, more: object = {}): object => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 200,
  messages: [{ role: 'user', content }],
  ...more,
});

const MAPPED = {
  stream: true,
  temperature: 0.2,
  top_k: 40,
  metadata: { user_id: 'u_4812' },
  system: [{ type: 'text', text: 'You are the release clerk.', cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'lookup_release', input_schema: { type: 'object', properties: { version: { type: 'string' } } } }],
};

/** Runs of every kind, made by `sim`. */
export async function makeRuns(server: TestGateway, rounds: number): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // A cut stream ends in an error of the reader; the run is what is wanted.
    await answer.arrayBuffer().catch(() => undefined);
  };
  for (let round = 0; round < rounds; round += 1) {
    await send('/e/sim/v1/messages', claude(`say hello ${round}`, { stream: round % 2 === 0 }));
    await send('/e/sim/v1/chat/completions', {
      model: 'gpt-6.1-sol',
      messages: [{ role: 'user', content: `wait 40 ms then say hi ${round}` }],
    });
    await send('/e/sim:gemini/v1/messages', claude('call the tool lookup_release with {"version":"4.2.0"}', MAPPED));
    if (round % 3 === 0) await send('/e/sim:openai-chat/v1/messages', claude('hi', { top_k: 40 }));
    if (round % 4 === 0) await send('/e/sim/v1/messages', claude('fail with 429'));
  }
  await server.gateway.keeper.settled();
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Serious faults of access that axe finds on a page, each with its elements. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: Violation[] = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))',
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 140)).join(' | ')}`);
}
