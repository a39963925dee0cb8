import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing, startBrowser } from '../support/browser.ts';
import { seriousFaults, visit } from '../support/console.ts';
import { startGateway } from '../support/gateway.ts';
import { layoutFaults } from '../support/layout-faults.ts';
import { needing } from '../support/needs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const COMPONENTS = readdirSync(join(ROOT, 'console', 'src', 'components'));
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const missing = await browserMissing();

let folder: string;
let server: Server;
let url: string;
let browser: Browser;

/** The policy of the real pages: what would be forbidden there is forbidden here. */
async function policyOfPages(): Promise<string> {
  const gateway = await startGateway();
  const { headers } = await fetch(`${gateway.url}/`, { headers: { accept: 'text/html' } });
  await gateway.close();
  return headers.get('content-security-policy') ?? expect.fail('the pages have no policy');
}

async function build(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'abp-gallery-'));
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--mode', 'gallery', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  await promisify(execFile)(process.execPath, args, { cwd: join(ROOT, 'console'), env: { ...process.env, NODE_ENV: 'production' } });
}

describe.skipIf(missing !== undefined)(needing('the gallery of components', missing), () => {
  beforeAll(async () => {
    const [policy, started] = await Promise.all([policyOfPages(), startBrowser(), build()]);
    browser = started;
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://gallery').pathname;
      const name = path === '/gallery' ? '/gallery.html' : path;
      response
        .writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': policy })
        .end(readFileSync(join(folder, name)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => server?.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'every state of every component is drawn in %s at %i without a complaint, and asks nobody',
    async (theme, width) => {
      const { page, context, complaints, open } = await visit(browser, url, { theme, width });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      const faults: string[] = [];
      for (const name of COMPONENTS) {
        await open(`/gallery?of=${name}`);
        expect(await page.locator('.specimen').count(), name).toBeGreaterThan(0);
        const looked = [...(await seriousFaults(page)), ...(await layoutFaults(page))];
        for (const button of await page.getByRole('button', { name: 'Open it' }).all()) {
          await button.click();
          await page.locator('dialog[open]').waitFor();
          looked.push(...(await seriousFaults(page)), ...(await layoutFaults(page)));
          await page.keyboard.press('Escape');
          await page.locator('dialog').waitFor({ state: 'detached' });
        }
        faults.push(...looked.map((fault) => `${name}: ${fault}`), ...complaints.splice(0).map((one) => `${name}: ${one}`));
      }
      expect(faults).toEqual([]);
      expect(asked.filter((path) => path.startsWith('/v1/') || path.endsWith('z'))).toEqual([]);
      await context.close();
    },
    600_000,
  );
});
