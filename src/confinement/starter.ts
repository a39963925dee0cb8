/**
 * Runs first inside a room. It listens on ports of the room's loopback and hands the listeners out of the room, so that connections
 * arrive in the process outside with no process and no socket file in between. Then it waits for a word: a parent that was killed before
 * the room could notice never sends one. Then it becomes the program: with no descriptor of ours, and with the signals that Node ignores
 * at their defaults, which an exec would otherwise keep ignored.
 */
export const STARTER = `
const fs = require('node:fs');
const net = require('node:net');
const give = (port) => new Promise((resolve, reject) => {
  const server = net.createServer();
  server.once('error', reject);
  server.listen({ host: '127.0.0.1', port, backlog: 511 }, () => process.send({ port }, server, (error) => error ? reject(error) : resolve()));
});
const CLOSED_BY_EXEC = 0o2000000;
const become = ({ file, args, env, cwd }) => {
  process.chdir(cwd);
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => undefined);
  for (const name of fs.readdirSync('/proc/self/fd')) {
    if (Number(name) < 3) continue;
    try {
      const flags = /flags:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/fdinfo/' + name, 'utf8'));
      if (flags !== null && (parseInt(flags[1], 8) & CLOSED_BY_EXEC) === 0) fs.closeSync(Number(name));
    } catch {} // The descriptor with which the folder was read is gone by now.
  }
  process.execve(file, args, env);
};
process.once('disconnect', () => process.exit(1));
process.once('message', become);
const ports = process.argv[1] === undefined || process.argv[1] === '' ? [] : process.argv[1].split(',').map(Number);
Promise.all(ports.map(give)).then(() => process.send({ ready: true }), (error) => {
  process.stderr.write('the listeners of the sandbox could not be opened: ' + error.message + '\\n');
  process.exit(1);
});
`;
