import { readFile, stat } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { ownFile, RUNS_FROM_SOURCES } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import { Reply } from '../reply.ts';
import { ConsoleBuild } from './console-build.ts';

const gzip = promisify(gzipCallback);

/** Nothing from another origin, no inline script and no inline style; text of models and tools can become neither. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.webmanifest']);

interface File {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer | undefined;
}

/** The built pages: out of the package, or in a clone built when they are first wanted. */
export class ConsoleFiles {
  readonly #build: ConsoleBuild | undefined;
  readonly #packaged: string | undefined;
  readonly #files = new Map<string, File>();

  constructor(home: string) {
    this.#build = RUNS_FROM_SOURCES ? new ConsoleBuild(ownFile(''), home) : undefined;
    this.#packaged = RUNS_FROM_SOURCES ? undefined : ownFile('dist/console/');
  }

  /** Begins the build where one is needed, so that it is done when somebody comes. */
  prepare(onProgress: (line: string) => void): void {
    void this.#build?.folder(onProgress).catch((error: unknown) => onProgress(error instanceof Error ? error.message : String(error)));
  }

  /** The page of the application: every path of it has the same one. */
  async page(acceptsGzip: boolean): Promise<Reply> {
    const folder = await this.#folder();
    if (folder instanceof Reply) return folder;
    return await this.#reply(folder, 'index.html', acceptsGzip, 'no-cache');
  }

  /** The same page for an address that nothing has: it says so, and leads back. */
  async nowhere(acceptsGzip: boolean): Promise<Reply> {
    const { status, body, headers } = await this.page(acceptsGzip);
    return new Reply(status === 200 ? 404 : status, body, headers);
  }

  /** A file whose name holds the hash of its content. */
  async asset(name: string, acceptsGzip: boolean): Promise<Reply> {
    if (!/^[\w.-]+$/.test(name)) throw new AbpError('not_found', 'There is no such file.');
    const folder = await this.#folder();
    if (folder instanceof Reply) return folder;
    return await this.#reply(folder, join('assets', name), acceptsGzip, 'public, max-age=31536000, immutable');
  }

  /** A file that keeps its name, such as the manifest. */
  async file(name: string, acceptsGzip: boolean): Promise<Reply> {
    const folder = await this.#folder();
    return folder instanceof Reply ? folder : await this.#reply(folder, name, acceptsGzip, 'no-cache');
  }

  /** The service worker of the inbox, or one that takes itself out. It names the version, so that browsers take that of another one. */
  async worker(isTold: boolean, version: string): Promise<Reply> {
    const folder = await this.#folder();
    if (folder instanceof Reply) throw new AbpError('overloaded', 'The console is being built; try again in a moment.');
    const file = await this.#read(join(folder, isTold ? 'inbox-worker.js' : 'inbox-worker-off.js'));
    const script = `// Agent Backplane ${version}\n${file?.bytes.toString('utf8') ?? ''}`;
    return new Reply(200, script, { ...SECURITY, 'content-type': TYPES['.js'] ?? '', 'cache-control': 'no-cache' });
  }

  async #folder(): Promise<string | Reply> {
    if (this.#packaged !== undefined) return this.#packaged;
    const state = this.#build?.state;
    if (state?.kind === 'ready') return state.folder;
    if (state?.kind === 'failed') return notice('The console could not be built', state.message, false);
    this.prepare(() => undefined);
    return notice('The console is being built', 'This happens once after the code has changed and takes a few seconds.', true);
  }

  async #reply(folder: string, name: string, acceptsGzip: boolean, caching: string): Promise<Reply> {
    const file = await this.#read(join(folder, name));
    if (file === undefined) throw new AbpError('not_found', `There is no file ${name} of the console.`);
    const packed = acceptsGzip ? file.gzipped : undefined;
    return new Reply(200, packed ?? file.bytes, {
      ...SECURITY,
      'content-type': file.type,
      'cache-control': caching,
      ...(packed === undefined ? {} : { 'content-encoding': 'gzip', vary: 'accept-encoding' }),
    });
  }

  async #read(path: string): Promise<File | undefined> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() !== true) return undefined;
    const bytes = await readFile(path);
    const extension = extname(path);
    const gzipped = COMPRESSED.has(extension) ? await gzip(bytes) : undefined;
    const file = { type: TYPES[extension] ?? 'application/octet-stream', bytes, gzipped };
    this.#files.set(path, file);
    return file;
  }
}

export function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return String(headers['accept-encoding'] ?? '').includes('gzip');
}

/** A page in place of the console; it looks again by itself while there is hope. */
function notice(title: string, text: string, again: boolean): Reply {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const refresh = again ? '<meta http-equiv="refresh" content="1">' : '';
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}<title>Agent Backplane</title><h1>${title}</h1><pre>${escaped}</pre><p>The API answers meanwhile: <a href="/openapi.json">/openapi.json</a></p></html>\n`;
  return new Reply(again ? 200 : 500, html, { ...SECURITY, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
}
