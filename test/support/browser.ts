import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Not the flags of the Chromium package: those switch off the very rules that are tested here. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function isOwn(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid()) && (stats.mode & 0o022) === 0;
}

function packageVersion(): string {
  const folder = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const file = join(folder.slice(0, folder.lastIndexOf('@sparticuz')), '@sparticuz', 'chromium', 'package.json');
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}

/** Unpacks the browser of the package into the folder; the package itself knows only the shared temporary folder. */
async function unpackInto(folder: string): Promise<void> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    const { default: chromium } = await import('@sparticuz/chromium');
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** The browser, unpacked once per user and version; a folder of somebody else is never used. */
async function browserProgram(): Promise<string> {
  const place = join(tmpdir(), `abp-test-chromium-${userInfo().uid}-${packageVersion()}`);
  if (isOwn(place)) return join(place, 'chromium');
  const draft = mkdtempSync(join(tmpdir(), 'abp-test-chromium-draft-'));
  await unpackInto(draft);
  try {
    renameSync(draft, place);
  } catch (error) {
    // Another test process was faster; or the name is somebody else's, then the draft serves this process alone.
    if (!isOwn(place)) {
      if (readdirSync(draft).length === 0) throw error;
      process.once('exit', () => rmSync(draft, { recursive: true, force: true }));
      return join(draft, 'chromium');
    }
    rmSync(draft, { recursive: true, force: true });
  }
  return join(place, 'chromium');
}

/** What a busy machine needs for a page; the tests' own limit is a little longer. */
const PAGE_MS = 110_000;

/** Gives a context or a page time on a busy machine, too. */
export function patient<One extends { setDefaultTimeout(ms: number): void }>(one: One): One {
  one.setDefaultTimeout(PAGE_MS);
  return one;
}

/** Starts the Chromium of `node_modules`, or that of `ABP_TEST_CHROMIUM`. */
export async function startBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-test-browser-'));
  mkdirSync(join(folder, 'home'));
  const browser = await playwright.launch({
    executablePath: process.env.ABP_TEST_CHROMIUM ?? (await browserProgram()),
    args: FLAGS,
    // Whatever it writes for its user goes away with it.
    env: { ...process.env, HOME: join(folder, 'home'), XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
  });
  browser.once('disconnected', () => rmSync(folder, { recursive: true, force: true }));
  return browser;
}

/** The reason why no browser starts here; undefined when one does. A broken browser of another kind than a missing library is an error. */
export async function browserMissing(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return process.env.ABP_TEST_CHROMIUM === undefined ? 'needs ABP_TEST_CHROMIUM, the path of a Chromium, on this platform' : undefined;
  }
  try {
    await (await startBrowser()).close();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const library = /error while loading shared libraries: ([^\s:]+)/.exec(message)?.[1];
    if (library !== undefined) return `needs the system library ${library} for Chromium`;
    throw new Error(`Chromium did not start, so nothing is known about browsers: ${message}`, { cause: error });
  }
}
