import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, seriousFaults, startConsole, type Visitor } from '../support/console.ts';
import { needing } from '../support/needs.ts';
import { openReceiver } from '../support/posts.ts';
import { pushBrowser } from '../support/push-browser.ts';

const missing = await browserMissing();

/**
 * A real browser, with two things of it answered by the test: its push service, which is a server of its vendor, and notifications, which
 * a browser without a screen refuses. The note is made and sent by the server, decrypted here, and given to the real worker by DevTools.
 */
describe.skipIf(missing !== undefined)(needing('a browser that is told when something waits', missing), () => {
  let stage: ConsoleStage;
  let service: Awaited<ReturnType<typeof openReceiver>>;
  beforeAll(async () => {
    service = await openReceiver();
    stage = await startConsole({ config: { console: { web_push: true, push_hosts: [new URL(service.url).host] } } });
  });
  afterAll(async () => {
    await stage?.close();
    service?.close();
  });

  const theSwitch = ({ page }: Visitor) => page.getByRole('switch', { name: /^Tell this (phone|browser) when something waits$/ });

  it('says why it cannot be told: not signed in, not allowed, or by a page over http', async () => {
    const paired = await stage.signedIn({ scope: 'answer', width: 390 });
    onTestFinished(() => paired.context.close());
    await paired.page.addInitScript("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })");
    await paired.open('/inbox');
    await paired.page.getByText('does not let this page notify you').waitFor();
    expect(await theSwitch(paired).isDisabled()).toBe(true);
    await paired.page.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })");
    await paired.open('/inbox');
    await paired.page.getByText('told on https alone').waitFor();
    await paired.context.clearCookies();
    await paired.open('/inbox');
    await paired.page.getByText('Only a paired or signed-in browser is told').waitFor();
    expect(await seriousFaults(paired.page)).toEqual([]);
    expect(paired.complaints).toEqual([]);
  });

  it('is switched on by the keyboard, shows the note of the server, opens the inbox, and is switched off', async () => {
    const phone = await stage.signedIn({ scope: 'answer', width: 390 });
    onTestFinished(() => phone.context.close());
    const { page, context, complaints } = phone;
    const browser = pushBrowser();
    await page.addInitScript(subscribingAt(`${service.url}/phone`, browser.keys));
    await phone.open('/inbox');
    await theSwitch(phone).focus();
    await page.keyboard.press('Space');
    await expect.poll(() => theSwitch(phone).getAttribute('aria-checked')).toBe('true');
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate(WORKERS)).toEqual([{ scope: '/inbox', script: '/inbox-worker.js' }]);

    await makeQuestion(stage);
    await expect.poll(() => service.posts.length).toBe(1);
    const note = browser.read(service.posts[0]?.bytes ?? Buffer.alloc(0));
    expect(note).toBe('{"waiting":1}');
    const [worker] = context.serviceWorkers();
    const shown = (): Promise<unknown> => worker?.evaluate('globalThis.shown') ?? Promise.resolve();
    await worker?.evaluate(
      'globalThis.shown = []; registration.showNotification = async (title, options) => shown.push([title, options.body, options.tag])',
    );
    const deliver = await delivery(await context.newCDPSession(page), stage.server.url);
    await deliver(note);
    await deliver('{"waiting":3}');
    // One that cannot be read still says that something waits.
    await deliver('<img src=x onerror=alert(1)>');
    await expect.poll(shown).toEqual([
      ['Agent Backplane', 'A question waits for your answer.', 'abp-inbox'],
      ['Agent Backplane', '3 questions wait for your answer.', 'abp-inbox'],
      ['Agent Backplane', 'A question waits for your answer.', 'abp-inbox'],
    ]);
    expect(await worker?.evaluate(CLICKED)).toEqual({ closed: true, focused: ['/inbox'] });

    await theSwitch(phone).click();
    await expect.poll(() => theSwitch(phone).getAttribute('aria-checked')).toBe('false');
    expect(await page.evaluate(WORKERS)).toEqual([]);
    expect(await stage.server.gateway.store.db.selectFrom('push_subscriptions').selectAll().execute()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('says in the words of the browser why it could not be subscribed', async () => {
    const phone = await stage.signedIn({ scope: 'answer', width: 390 });
    onTestFinished(() => phone.context.close());
    // The real one, which has no push service here and refuses.
    await phone.page.addInitScript(`${ALLOWED}`);
    await phone.open('/inbox');
    await theSwitch(phone).click();
    await phone.page.getByRole('alert').getByText('Registration failed').waitFor();
    expect(await theSwitch(phone).getAttribute('aria-checked')).toBe('false');
  });

  it('has its worker taken out where the operator has switched it off', async () => {
    const off = await startConsole();
    onTestFinished(() => off.close());
    const one = await off.signedIn();
    expect(await (await fetch(`${off.server.url}/inbox-worker.js`)).text()).toContain('registration.unregister()');
    await one.page.evaluate("navigator.serviceWorker.register('/inbox-worker.js', { scope: '/inbox' }).then(() => null)");
    await one.open('/inbox');
    await one.page.getByText('has not switched it on').waitFor();
    await expect.poll(() => one.page.evaluate(WORKERS)).toEqual([]);
    expect(one.complaints).toEqual([]);
  });
});

/** Scripts of the page are texts: this side knows nothing of a browser's types. */
const WORKERS = `navigator.serviceWorker.getRegistrations().then((all) =>
  all.map(({ scope, active }) => ({ scope: new URL(scope).pathname, script: new URL(active?.scriptURL ?? location.href).pathname })))`;

const ALLOWED = `Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
  Notification.requestPermission = async () => 'granted';`;

function subscribingAt(endpoint: string, keys: object): string {
  return `${ALLOWED}
    let subscribed = null;
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
      if (userVisibleOnly !== true || typeof applicationServerKey !== 'string') throw new Error('subscribed wrongly');
      subscribed = { toJSON: () => (${JSON.stringify({ endpoint, keys })}), unsubscribe: async () => { subscribed = null; return true; } };
      return subscribed;
    };
    PushManager.prototype.getSubscription = async () => subscribed;`;
}

/** Somebody touches the note: the inbox that is open comes to the front. Without a touch of a person a browser refuses that, so it is watched. */
const CLICKED = `(async () => {
  const seen = { closed: false, focused: [] };
  WindowClient.prototype.focus = async function () { seen.focused.push(new URL(this.url).pathname); return this; };
  const event = new ExtendableEvent('notificationclick');
  Object.defineProperty(event, 'notification', { value: { close: () => { seen.closed = true; } } });
  dispatchEvent(event);
  while (seen.focused.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return seen;
})()`;

/** Gives notes to the service worker of the inbox, as the browser does when one arrives. */
async function delivery(devtools: CDPSession, origin: string): Promise<(data: string) => Promise<void>> {
  const found = Promise.withResolvers<string>();
  devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    const inbox = registrations.find(({ scopeURL, isDeleted }) => scopeURL === `${origin}/inbox` && !isDeleted);
    if (inbox !== undefined) found.resolve(inbox.registrationId);
  });
  await devtools.send('ServiceWorker.enable');
  const registrationId = await found.promise;
  return async (data) => {
    await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  };
}

async function makeQuestion({ server }: ConsoleStage): Promise<void> {
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return String(((await answer.json()) as { id?: string }).id); // every such answer has one
  };
  const launch = {
    ...{ type: 'typescript', name: 'launch', description: 'Launches.', policy: 'requires_approval' },
    ...{ parameters: { type: 'object', properties: {} }, source: 'export default () => ({});' },
  };
  await post('/v1/capabilities', { id: 'danger', name: 'Danger', description: 'Must be approved.', tools: [launch] });
  const agent = await post('/v1/agents', { name: 'Nora', system_prompt: '', model: 'sim/sim-1', capabilities: ['danger'] });
  const session = await post('/v1/sessions', { agent_id: agent });
  await post(`/v1/sessions/${session}/messages`, { message: { content: [{ type: 'text', text: 'call the tool launch with {}' }] } });
}
