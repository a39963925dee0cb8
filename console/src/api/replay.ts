import { ApiError, get, parsed } from './client.ts';
import type { RecordingLine } from './types.ts';

/** Headers that belong to the call itself; everything else of a recording is of the connection it came by. */
const KEPT = /^(content-type|accept|anthropic-|openai-|x-goog-api-client)/i;

function bodyOf(body: RecordingLine['request']['body']): string | Uint8Array<ArrayBuffer> {
  return 'text' in body ? body.text : Uint8Array.from(atob(body.base64), (char) => char.charCodeAt(0));
}

/** The path under an engine that a recorded request is sent to again. */
function replayPath({ request, engine }: RecordingLine, to?: string): string {
  const prefix = request.dialect === 'kimi' || request.dialect === 'copilot' ? `/${request.dialect}` : '';
  const path = request.path.startsWith(prefix) ? request.path : `${prefix}${request.path}`;
  return `/e/${encodeURIComponent(to ?? engine ?? 'sim')}${path}`;
}

/** Sends the recorded request of a run again, as this browser, and says which run that made. */
export async function replay(run: string, engine?: string): Promise<string> {
  const line = await get<RecordingLine>(`/v1/recordings/${run}`);
  const answer = await fetch(replayPath(line, engine), {
    method: 'POST',
    headers: line.request.headers.filter(([name]) => KEPT.test(name)).map(([name, value]): [string, string] => [name, value]),
    body: bodyOf(line.request.body),
  });
  const again = answer.headers.get('x-abp-run-id');
  const text = await answer.text();
  if (again === null) throw new ApiError(answer.status, parsed(text), null);
  return again;
}
