import { tmpdir } from 'node:os';
import { type ChildProcess, startProcess } from '../../base/child-process.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseShallow } from '../../base/json-limits.ts';
import { checkAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { newRunId } from '../../contract/run-id.ts';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import { type EnvelopeOf, SidecarEnvelope } from '../../contract/work-orders/sidecar.ts';
import { RUN_MARK } from '../runs/process/environment.ts';
import { endLeftovers } from '../runs/process/run-folder.ts';
import { helloExcess, MOST_LINE_BYTES, majorOf } from './dialogue.ts';
import { shortened } from './finals.ts';

export interface Greeting {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly handshakeMs: number;
  /** Takes secrets out of what it says on its error output; before it is cut, because half a secret is not recognised. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** How long a sidecar that has said its hello may take to end when its input ends. */
const LEAVE_MS = 1000;

/** Starts a sidecar, hears its hello and ends it, with everything that it has started. Throws E007 where it has none. */
export async function greet(
  backend: string,
  { command, env, handshakeMs, redact = (text) => text }: Greeting,
): Promise<EnvelopeOf<'hello'>> {
  const [file = '', ...args] = command;
  const failed = (reason: string): AbpError =>
    new AbpError('E007', `${backend} is not available: ${reason}`, { backend_id: backend, reason });
  let heard: (line: string | Error) => void = () => undefined;
  const first = new Promise<string | Error>((resolve) => {
    heard = resolve;
  });
  const lines = { mostBytes: MOST_LINE_BYTES, fault: () => heard(new Error('its first line is too long or not UTF-8')) };
  const visit = newRunId();
  const marked = { ...env, [RUN_MARK]: visit };
  const child = await startProcess(
    { command: file, args, env: marked, cwd: tmpdir(), stdin: 'open', mode: 'pipe', lines },
    (line, source) => {
      if (source === 'stdout') heard(line);
    },
  ).catch((error: unknown) => {
    throw failed(`${file} could not be started: ${error instanceof Error ? error.message : String(error)}`);
  });
  const timer = setTimeout(() => heard(new Error(`it said no hello within ${handshakeMs} ms`)), handshakeMs);
  void child.exit.then(({ code, signal }) => heard(new Error(`it ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`)));
  try {
    const line = await first;
    if (line instanceof Error) throw failed(`${line.message}${lastWords(redact(child.stderr))}`);
    return helloIn(line, failed);
  } finally {
    clearTimeout(timer);
    await leave(child);
    endLeftovers(visit);
  }
}

function lastWords(stderr: string): string {
  const words = tellingLine(stderr);
  return words === '' ? '' : `; it said: ${words}`;
}

/** The line of an error output that says most: the first one about an error, else the last. Programs end with a stack, or with their version. */
export function tellingLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const said = lines.filter((line) => line !== '');
  return (said.find((line) => /^\w*(?:error|exception)\b.*:/i.test(line)) ?? said.at(-1) ?? '').slice(0, 300);
}

function helloIn(line: string, failed: (reason: string) => AbpError): EnvelopeOf<'hello'> {
  const excess = helloExcess(line);
  if (excess !== undefined) throw failed(`its first line is no hello: ${excess}`);
  const parsed = parseShallow(line);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw failed('its first line is no JSON object');
  const checked = checkAt(SidecarEnvelope, parsed.value);
  if (!checked.ok || checked.value.t !== 'hello') {
    if (checked.ok && checked.value.t === 'fatal') throw failed(`it gave up: ${checked.value.error.slice(0, 300)}`);
    const why = checked.ok ? `it is ${checked.value.t}` : (checked.complaints[0]?.message ?? '');
    throw failed(`its first line is no hello: ${why}`);
  }
  const hello = checked.value;
  if (majorOf(hello.contract_version) === majorOf(CONTRACT_VERSION)) return hello;
  throw failed(`it speaks ${shortened(hello.contract_version)}, and this backplane ${CONTRACT_VERSION}`);
}

/** The end of its input is a sidecar's sign to go; one that stays is ended. */
async function leave(child: ChildProcess): Promise<void> {
  child.closeInput();
  const timers = [setTimeout(() => child.signal('SIGTERM'), LEAVE_MS), setTimeout(() => child.signal('SIGKILL'), 2 * LEAVE_MS)];
  await child.exit;
  for (const timer of timers) clearTimeout(timer);
}
