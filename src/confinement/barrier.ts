import type { ChildProcess as NodeChild } from 'node:child_process';
import { Server, Socket } from 'node:net';
import type { BarredProgram, Barrier } from '../base/child-process.ts';
import { parseJsonObject } from '../base/json.ts';
import { bubblewrapCommand, bubblewrapOptions, DESCRIPTORS } from './bubblewrap.ts';
import type { Equipment } from './equipment.ts';
import type { Room } from './room.ts';
import { endedByNul, wordFor } from './starter.ts';

/** Time for the namespaces and the starter to come up, also where the disk or the processors have other work for a while. */
const START_MS = 60_000;

/** A confined program, and who answers on the ports of its room. */
export interface Confined {
  readonly room: Room;
  readonly equipment: Equipment;
  /** Takes a connection that the program opened to this port of its own loopback. */
  readonly connected: (port: number, socket: Socket) => void;
}

/** Puts bubblewrap before a program: `startProcess` starts it behind this. */
export function barrierOf({ room, equipment, connected }: Confined): Barrier {
  const confining = [equipment.bwrap, ...bubblewrapCommand(equipment, room)] as const;
  const [command = '', ...args] = room.group?.entering(confining) ?? confining;
  return {
    command,
    args,
    descriptors: ['ipc', 'pipe', 'pipe', 'pipe'],
    begin: async (child, word) => {
      const up = new Starting(child, room, connected);
      feed(child, DESCRIPTORS.filter, room.ports.length > 0 ? equipment.filters.online : equipment.filters.offline);
      feed(child, DESCRIPTORS.options, endedByNul(bubblewrapOptions(equipment, room)));
      return await up.started(word);
    },
  };
}

/** The process may end before it has taken what is written to it; how it ended tells. */
function feed(child: NodeChild, descriptor: number, bytes: Buffer): void {
  pipeOf(child, descriptor)?.end(bytes);
}

function pipeOf(child: NodeChild, descriptor: number): Socket | undefined {
  const pipe = child.stdio[descriptor];
  return pipe instanceof Socket ? pipe.on('error', () => undefined) : undefined;
}

/** From the start of bubblewrap to the moment at which the program has been told to begin. */
class Starting {
  readonly #child: NodeChild;
  readonly #ready = Promise.withResolvers<void>();
  readonly #group = Promise.withResolvers<number>();
  readonly #servers: Server[] = [];

  constructor(child: NodeChild, room: Room, connected: Confined['connected']) {
    this.#child = child;
    // Awaited together; one may fail before anybody looks at the other.
    for (const { promise } of [this.#ready, this.#group]) promise.catch(() => undefined);
    child.on('message', (message, handle) => {
      if (handle instanceof Server) this.#serve(handle, portOf(message), room, connected);
      else if (isReady(message)) this.#ready.resolve();
    });
    child.once('exit', () => {
      this.#fail('it ended before it began');
      // A listener that is left keeps the network of the room alive.
      for (const server of this.#servers) server.close();
    });
    let info = '';
    pipeOf(child, DESCRIPTORS.info)?.on('data', (chunk: Buffer) => {
      info += chunk.toString('latin1');
      const pid = parseJsonObject(info)?.['child-pid'];
      if (typeof pid === 'number' && pid > 1) this.#group.resolve(pid);
    });
  }

  async started(word: BarredProgram): Promise<{ group: number }> {
    const timer = setTimeout(() => this.#fail(`it was not ready within ${START_MS} ms`), START_MS);
    try {
      const [group] = await Promise.all([this.#group.promise, this.#ready.promise]);
      await new Promise<void>((resolve, reject) => {
        this.#child.send(wordFor(word), (error) => (error === null ? resolve() : reject(error)));
      });
      return { group };
    } finally {
      clearTimeout(timer);
    }
  }

  #serve(server: Server, port: number, room: Room, connected: Confined['connected']): void {
    this.#servers.push(server);
    server.unref();
    server.on('connection', (socket) => {
      if (room.ports.includes(port)) connected(port, socket);
      else socket.destroy();
    });
    // The room may vanish while it is listened to.
    server.on('error', () => undefined);
  }

  #fail(reason: string): void {
    const error = new Error(`the sandbox did not start: ${reason}`);
    this.#ready.reject(error);
    this.#group.reject(error);
  }
}

function portOf(message: unknown): number {
  return typeof message === 'object' && message !== null && 'port' in message && typeof message.port === 'number' ? message.port : 0;
}

function isReady(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'ready' in message;
}
