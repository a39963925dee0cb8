import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const EARLY = '<script type="module" src="/src/early.ts"></script>';
const PLACE = '<!-- early -->';

/**
 * Keeps `early.ts` a file of its own that the browser runs at once. Bundled with the application it would run when all of that has been
 * read: the first page would be asked for late, and a chosen theme would flash the other one first.
 */
const early: Plugin[] = [
  {
    name: 'early-apart',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'chunk', id: join(import.meta.dirname, 'src', 'early.ts'), name: 'early' });
    },
    transformIndexHtml: { order: 'pre', handler: (html) => html.replace(EARLY, PLACE) },
  },
  {
    name: 'early-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const file = Object.values(bundle).find((part) => part.type === 'chunk' && part.name === 'early')?.fileName;
        if (file === undefined) throw new Error('early.ts was not built');
        return html.replace(PLACE, `<script src="/${file}"></script>`);
      },
    },
  },
];

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  plugins: [react(), ...(mode === 'gallery' ? [] : early)],
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
