import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    // The policy of the pages allows no data: scripts or styles, and inlined fonts would delay the first paint.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The gallery of components is for who works on them, and no part of the package.
    ...(mode === 'gallery' ? { rolldownOptions: { input: join(import.meta.dirname, 'gallery.html') } } : {}),
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:8088', '/e': 'http://127.0.0.1:8088' } },
}));
