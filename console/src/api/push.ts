import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { PushState } from '../../../src/gateway/api/console.ts';
import { get, send } from './client.ts';
import type { Session } from './types.ts';

const WORKER = '/inbox-worker.js';
const SCOPE = '/inbox';
const TAG = 'abp-inbox';

/** Whether this browser is told that something waits; else why it is not. */
export type Telling = 'operator' | 'nobody' | 'insecure' | 'unsupported' | 'denied' | 'off' | 'on';

/** Sign-ins whose end the server knows, so that telling can end with them. */
const SIGNED_IN: readonly Session['principal'][] = ['console', 'paired', 'key'];

async function registered(): Promise<ServiceWorkerRegistration | undefined> {
  return 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration(SCOPE) : undefined;
}

async function subscribed(): Promise<PushSubscription | null> {
  return (await (await registered())?.pushManager.getSubscription()) ?? null;
}

/** How it stands with this browser. Where nobody is told any more, its worker goes. */
async function telling({ principal, expires_at: end, web_push: isOffered }: Session): Promise<Telling> {
  if (!isOffered) {
    await (await registered())?.unregister();
    return 'operator';
  }
  if (!SIGNED_IN.includes(principal) || end === null) return 'nobody';
  if (!isSecureContext) return 'insecure';
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  const { on } = await get<z.infer<typeof PushState>>('/v1/console/push');
  return on && (await subscribed()) !== null ? 'on' : 'off';
}

export const tellingQuery = (session: Session) =>
  queryOptions({ queryKey: ['telling', session], queryFn: () => telling(session), staleTime: 60_000, retry: false });

/** Asks the reader, then the browser, then the server. */
export async function beginTelling(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') return;
  const { key } = await get<z.infer<typeof PushState>>('/v1/console/push');
  await navigator.serviceWorker.register(WORKER, { scope: SCOPE, updateViaCache: 'none' });
  // One that was made for another key of the server takes no notes signed with this one.
  await (await subscribed())?.unsubscribe();
  const registration = await ready();
  const { endpoint, keys } = (await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON();
  await send('PUT', '/v1/console/push', { endpoint, keys });
}

/** The worker, once it can be subscribed with. The page may lie outside of its scope, where the browser's own promise never comes. */
async function ready(): Promise<ServiceWorkerRegistration> {
  const registration = await registered();
  if (registration === undefined) throw new Error('This browser did not keep the worker of the inbox.');
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (worker === null || worker.state === 'activated' || worker.state === 'redundant') resolve();
    };
    worker?.addEventListener('statechange', look);
    look();
  });
  return registration;
}

export async function endTelling(): Promise<void> {
  await send('DELETE', '/v1/console/push');
  await (await subscribed())?.unsubscribe();
  await (await registered())?.unregister();
}

/** A note that said that something waits has done its work when the inbox is open. */
export async function closeNotes(): Promise<void> {
  for (const note of (await (await registered())?.getNotifications({ tag: TAG })) ?? []) note.close();
}
