import { AT_ONCE, digestInTurns } from '../../base/bounded/buffers.ts';
import { sha256 } from '../../base/canonical-json.ts';
import { withoutCredentials } from '../../base/redact.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Exchange, ExchangeRequest, ExchangeSink, Transport } from '../../upstream/exchange.ts';
import type { Inside } from '../engine.ts';
import { match } from './match.ts';
import { Player } from './player.ts';
import { PRESET_NAMES, pointersOf } from './presets.ts';
import type { Ask, Source } from './source.ts';

/** Serves calls from recordings: from a file where one is named, else from those of this home that the caller made. */
export function replayTransport(inside: Inside): Transport {
  let source: Promise<Source> | undefined;
  return (request, sink) => {
    const call = new ReplayCall(sink);
    const started = performance.now();
    source ??= sourceOf(inside);
    call.find(source, askOf(request, inside.keyOf(request.runHex)), optionsOf(request, inside), started);
    return call;
  };
}

/** Where calls are looked up before their engine is asked. */
export interface RecordedFirst {
  readonly source: Source;
  readonly ignore: readonly string[];
  /** Told of each call that no recording answers. */
  onMiss(runHex: string): void;
  /** Whether the engine is asked then; otherwise the call is refused. */
  readonly ask: boolean;
  /** The path in the engine's address, which stands before the paths of its callers. */
  readonly base: string;
}

/** An engine that is asked only for what no recording answers. Bodies that are passed on unread are not looked up. */
export function recordedFirst(transport: Transport, { source, ignore, onMiss, ask, base }: RecordedFirst): Transport {
  return (request, sink) => {
    const miss = (): Exchange => {
      onMiss(request.runHex);
      return transport(request, sink);
    };
    if (ask && request.body !== null && !Buffer.isBuffer(request.body)) return miss();
    const call = new ReplayCall(sink, ask ? miss : undefined);
    const wanted = askOf(request, null).then((asked) => ({ ...asked, base }));
    call.find(Promise.resolve(source), wanted, { ignore, timed: false }, performance.now());
    return call;
  };
}

/** Loaded with the first call: threads that translate only look engines up and need no database. */
async function sourceOf(inside: Inside): Promise<Source> {
  if (inside.file === undefined) return (await import('./home-source.ts')).homeSource(inside);
  return (await import('./file-source.ts')).fileSource(inside.file);
}

interface Options {
  readonly ignore: readonly string[];
  readonly timed: boolean;
}

/** Options of the caller in `X-ABP-Replay-…`, else those of the configuration. */
function optionsOf({ asides = {} }: ExchangeRequest, { ignore = [], timing }: Inside): Options {
  const given = asides['x-abp-replay-ignore'];
  const listed = given === undefined ? ignore : given.split(',').map((item) => item.trim());
  return {
    ignore: listed.filter((item) => item !== ''),
    timed: (asides['x-abp-replay-timing'] ?? timing) === 'original',
  };
}

async function askOf({ method, path, headers, body, dialect = '' }: ExchangeRequest, keyId: string | null): Promise<Ask> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const digest = bytes.length > AT_ONCE ? await digestInTurns(bytes) : sha256(bytes);
  return { dialect, method, path: withoutCredentials(path), body: { bytes, headers }, sha256: digest, keyId };
}

/** How an engine is reached when no recording answers a call. */
type Otherwise = () => Exchange;

class ReplayCall implements Exchange {
  readonly #sink: ExchangeSink;
  readonly #otherwise: Otherwise | undefined;
  #player: Player | undefined;
  #other: Exchange | undefined;
  #over = false;

  constructor(sink: ExchangeSink, otherwise?: Otherwise) {
    this.#sink = sink;
    this.#otherwise = otherwise;
  }

  find(source: Promise<Source>, ask: Promise<Ask>, options: Options, started: number): void {
    this.#play(source, ask, options, started).catch((thrown: unknown) => {
      if (this.#over) return;
      if (this.#otherwise !== undefined && AbpError.is(thrown) && thrown.code === 'replay_miss') {
        this.#other = this.#otherwise();
        return;
      }
      this.#over = true;
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      this.#sink.fail(AbpError.is(thrown) ? { kind: 'refused', message, error: thrown } : { kind: 'broken', message });
    });
  }

  abort(): void {
    if (this.#other !== undefined) {
      this.#other.abort();
      return;
    }
    if (this.#over || this.#player?.over === true) return;
    this.#over = true;
    this.#player?.stop();
    this.#sink.fail({ kind: 'aborted', message: 'the caller went away' });
  }

  resume(): void {
    this.#other?.resume();
    this.#player?.resume();
  }

  async #play(source: Promise<Source>, ask: Promise<Ask>, { ignore, timed }: Options, started: number): Promise<void> {
    const { pointers, unknown } = pointersOf(ignore);
    if (unknown.length > 0) {
      throw new AbpError(
        'invalid_request',
        `"${unknown.join('", "')}" is neither a JSON pointer nor a coding agent. Known are ${PRESET_NAMES.join(', ')}.`,
      );
    }
    const { runId, label, answer } = await match(await source, await ask, pointers);
    if (this.#over) return;
    this.#player = new Player(answer, this.#sink, timed ? started : undefined);
    this.#player.start({ reason: `replayed_${label}`, version: runId });
  }
}
