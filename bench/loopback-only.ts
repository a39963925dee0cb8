import { type AddressInfo, Server } from 'node:net';

/**
 * Loaded before somebody else's server: whatever it wants to listen on, it gets a free port of 127.0.0.1, and the process that started it is
 * told which. It ends when its channel breaks, as our own scripts do.
 */
const listen = Server.prototype.listen;

Server.prototype.listen = function loopback(this: Server): Server {
  this.once('listening', () => process.send?.((this.address() as AddressInfo).port)); // a TCP server has one once it listens
  return Reflect.apply(listen, this, [0, '127.0.0.1']);
};
process.once('disconnect', () => process.exit());
