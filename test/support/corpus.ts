import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';

export const NO_CORPUS = 'needs ABP_CORPUS, the folder of recorded exchanges';

/** The recorded exchanges are not part of the repository; `ABP_CORPUS` says where they lie. undefined where it names no folder. */
export function corpusFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const folder = environment.ABP_CORPUS;
  return folder === undefined || folder === '' || !existsSync(folder) ? undefined : resolve(folder);
}

/** A folder or file that lies beside the recorded exchanges; undefined where there is none. */
export function besideCorpus(name: string, environment: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const folder = corpusFolder(environment);
  const path = folder === undefined ? undefined : join(dirname(folder), name);
  return path !== undefined && existsSync(path) ? path : undefined;
}

const ROOT = corpusFolder();
export const hasCorpus = ROOT !== undefined;

/** One recorded or authored exchange. */
export interface Exchange {
  readonly id: string;
  readonly features: readonly string[];
  readonly url: string;
  readonly status: number;
  /** `raw` means byte for byte as the vendor sent it. */
  readonly responseFidelity: string;
  readonly request?: Json;
  /** The same, byte for byte as it was kept. */
  readonly requestBytes?: Buffer;
  readonly body?: Json;
  readonly stream?: Buffer;
  readonly responseBytes?: Buffer;
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function readJson(file: string): Json | undefined {
  const parsed = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
  return parsed?.ok ? parsed.value : undefined;
}

/** The exchanges of one vendor dialect; none when there is no corpus. */
export function exchangesOf(vendor: string): Exchange[] {
  if (ROOT === undefined) return [];
  const folder = join(ROOT, vendor);
  return readdirSync(folder).map((name) => {
    const at = (file: string): string => join(folder, name, file);
    const meta = object(readJson(at('meta.json')));
    const http = object(meta.http);
    const request = readJson(at('request.json'));
    const body = readJson(at('response.json'));
    const file = ['response.json', 'response.sse', 'response.txt'].find((one) => existsSync(at(one)));
    return {
      id: `${vendor}/${name}`,
      features: Array.isArray(meta.features) ? meta.features.map(String) : [],
      url: String(http.url ?? ''),
      status: Number(http.status ?? 200),
      responseFidelity: String(object(meta.fidelity).response ?? ''),
      ...(request === undefined ? {} : { request, requestBytes: readFileSync(at('request.json')) }),
      ...(body === undefined ? {} : { body }),
      ...(existsSync(at('response.sse')) ? { stream: readFileSync(at('response.sse')) } : {}),
      ...(file === undefined ? {} : { responseBytes: readFileSync(at(file)) }),
    };
  });
}
