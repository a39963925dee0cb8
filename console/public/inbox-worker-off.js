/* In place of the service worker of the inbox where nobody is told any more: it takes itself out. */
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(registration.unregister()));
