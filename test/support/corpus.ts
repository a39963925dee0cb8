import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';

/** The recorded exchanges are not part of the repository; `ABP_CORPUS` says where they lie. */
const ROOT = process.env.ABP_CORPUS;

export const NO_CORPUS = 'needs ABP_CORPUS, the folder of recorded exchanges';
export const hasCorpus = ROOT !== undefined && existsSync(ROOT);

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
  if (!hasCorpus || ROOT === undefined) return [];
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
