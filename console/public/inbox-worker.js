/* The service worker of the inbox: it shows that something waits and opens the inbox. It answers no request and keeps nothing. */
const TAG = 'abp-inbox';

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

/** How many questions wait; a note that cannot be read still says that something does. */
function waitingIn(data) {
  try {
    const { waiting } = data.json();
    return Number.isInteger(waiting) && waiting > 0 ? waiting : 1;
  } catch {
    return 1;
  }
}

addEventListener('push', (event) => {
  const waiting = waitingIn(event.data);
  const body = waiting === 1 ? 'A question waits for your answer.' : `${waiting} questions wait for your answer.`;
  event.waitUntil(registration.showNotification('Agent Backplane', { body, tag: TAG, renotify: true, icon: '/icon.svg' }));
});

/** An inbox that is open comes to the front; else one is opened. */
async function openInbox() {
  const open = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const inbox = open.find(({ url }) => new URL(url).pathname === '/inbox');
  await (inbox === undefined ? clients.openWindow('/inbox') : inbox.focus());
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openInbox());
});
