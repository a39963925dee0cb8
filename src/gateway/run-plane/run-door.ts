import type { Config } from '../config.ts';
import { type Listener, listen } from '../door/listener.ts';
import type { Gateway } from '../gateway.ts';
import { recordingFor } from '../recording.ts';

/** How coding agents that turns run reach the gateway of their process. */
export interface RunDoor {
  /** Resolves when `gateway.url` answers. */
  open(gateway: Gateway): Promise<void>;
  close(): Promise<void>;
}

/** The port that a server opens for everybody; turns of an earlier process may go on before it is open. */
export function serverDoor(listening: Promise<void>): RunDoor {
  return { open: () => listening, close: async () => undefined };
}

/** A port of loopback that a worker opens with its first coding agent. */
export function workerDoor(): RunDoor {
  let opening: Promise<Listener> | undefined;
  const open = async (gateway: Gateway): Promise<Listener> => {
    const listener = await listen(gateway);
    gateway.url = listener.url;
    gateway.ownUrl = listener.url;
    return listener;
  };
  return {
    open: async (gateway) => {
      opening ??= open(gateway);
      await opening;
    },
    close: async () => {
      // One that could not be opened has told the run that wanted it.
      const listener = await opening?.catch(() => undefined);
      await listener?.close();
    },
  };
}

/** The configuration of a worker, and of the door that a process has for itself: whatever address its servers have, its own is on loopback, and no more is recorded for that. */
export function onLoopback(config: Config): Config {
  const { cert_file: _cert, key_file: _key, ...server } = config.server;
  return {
    ...config,
    server: { ...server, host: '127.0.0.1', port: 0, trust_proxy: false },
    recording: { ...config.recording, default: recordingFor(config, { kind: 'token' }) },
  };
}
