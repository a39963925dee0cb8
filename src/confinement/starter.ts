import type { BarredProgram } from '../base/child-process.ts';

/**
 * A starter runs first inside a room. It listens on ports of the room's loopback and hands the listeners out of the room, so that
 * connections arrive in the process outside with no process and no socket file in between. Then it waits for a word: a parent that was
 * killed before the room could notice never sends one. Then it becomes the program, with no descriptor of ours and with the signals at
 * their defaults.
 */
export type StarterName = 'perl' | 'node';

/** The word, in a form that both starters read with the little they have: hexadecimal, the parts ended by NUL, which none of them can hold. */
export function wordFor({ cwd, file, args, env }: BarredProgram): string {
  const parts = [cwd, file, String(args.length), ...args, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  return endedByNul(parts).toString('hex');
}

/** Words, each ended by NUL. One that held a NUL would be two, the second of them an option or a variable that nobody asked for. */
export function endedByNul(words: readonly string[]): Buffer {
  const odd = words.find((word) => word.includes('\0'));
  if (odd !== undefined) throw new Error(`a word of a program must not contain a NUL: ${odd.slice(0, odd.indexOf('\0'))}`);
  return Buffer.from(words.map((word) => `${word}\0`).join(''));
}

/** The command line of a starter: where Node or Perl lies inside the room, and the ports to listen on there. */
export function starterCommand(
  name: StarterName,
  { node, arch, ports }: { node: string; arch: string; ports: readonly number[] },
): string[] {
  return name === 'perl'
    ? [PERL, '-e', IN_PERL, String(SENDMSG[arch] ?? 0), ...ports.map(String)]
    : [node, '--no-warnings', '-e', IN_NODE, '--', ports.join(',')];
}

/** Part of every Debian and most other systems; it starts in a twentieth of the time of Node. */
export const PERL = '/usr/bin/perl';

/** The number of the system call that sends descriptors, which Perl has no function for. */
const SENDMSG: Readonly<Record<string, number>> = { x64: 46, arm64: 211 };

export const hasPerlStarter = (arch: string): boolean => arch in SENDMSG;

/**
 * Speaks as much of Node's channel between processes as handing over listeners takes: lines of JSON, one of them with a descriptor, which
 * is acknowledged. The probe of the sandbox tries it; where it does not work, the starter in Node does.
 */
const IN_PERL = String.raw`
use strict;
my ($sendmsg, @ports) = @ARGV;
my $rest = '';
sub heard {
  while (index($rest, "\n") < 0) { sysread(CHANNEL, $rest, 65536, length $rest) or exit 1 }
  my $line = substr $rest, 0, 1 + index($rest, "\n"), '';
  chomp $line;
  return $line;
}
open(CHANNEL, '+<&=3') or die "there is no channel: $!\n";
for my $port (@ports) {
  my $server;
  socket($server, 2, 1, 0) and setsockopt($server, 1, 2, 1) and bind($server, pack('S n C4 x8', 2, $port, 127, 0, 0, 1)) and listen($server, 511)
    or die "the listeners of the sandbox could not be opened: $!\n";
  my $text = '{"cmd":"NODE_HANDLE","type":"net.Server","msg":{"port":' . $port . "}}\n";
  my $parts = pack('P Q', $text, length $text);
  my $rights = pack('Q i i i x4', 20, 1, 1, fileno $server);
  my $message = pack('Q Q P Q P Q Q', 0, 0, $parts, 1, $rights, length $rights, 0);
  syscall($sendmsg + 0, 3, $message, 0) == length $text or die "the listeners of the sandbox could not be handed over: $!\n";
  heard();
}
syswrite CHANNEL, qq({"ready":true}\n);
my $word = heard();
my ($cwd, $file, $count, @more) = split /\0/, pack('H*', substr $word, 1, -1), -1;
pop @more;
my @args = splice @more, 0, $count;
%ENV = map { /^([^=]+)=(.*)$/s } @more;
chdir $cwd or die "$cwd: $!\n";
opendir my $open, '/proc/self/fd' or die "descriptors: $!\n";
my @inherited = grep { $_ > 2 && $_ != fileno $open } grep { /^\d+$/ } readdir $open;
close CHANNEL;
require POSIX;
POSIX::close($_) for @inherited;
exec { $file } @args or die "$file: $!\n";
`;

/** Node ignores two signals, which an exec would keep ignored; a listener puts them back to their defaults. */
const IN_NODE = String.raw`
const fs = require('node:fs');
const net = require('node:net');
const give = (port) => new Promise((resolve, reject) => {
  const server = net.createServer();
  server.once('error', reject);
  server.listen({ host: '127.0.0.1', port, backlog: 511 }, () => process.send({ port }, server, (error) => error ? reject(error) : resolve()));
});
const CLOSED_BY_EXEC = 0o2000000;
const become = (word) => {
  const [cwd, file, count, ...more] = Buffer.from(word, 'hex').toString().split('\0').slice(0, -1);
  const env = Object.fromEntries(more.slice(count).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
  process.chdir(cwd);
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => undefined);
  for (const name of fs.readdirSync('/proc/self/fd')) {
    if (Number(name) < 3) continue;
    try {
      const flags = /flags:\s*(\d+)/.exec(fs.readFileSync('/proc/self/fdinfo/' + name, 'utf8'));
      if (flags !== null && (parseInt(flags[1], 8) & CLOSED_BY_EXEC) === 0) fs.closeSync(Number(name));
    } catch {} // The descriptor with which the folder was read is gone by now.
  }
  process.execve(file, more.slice(0, count), env);
};
process.once('disconnect', () => process.exit(1));
process.once('message', become);
const ports = process.argv[1] === undefined || process.argv[1] === '' ? [] : process.argv[1].split(',').map(Number);
Promise.all(ports.map(give)).then(() => process.send({ ready: true }), (error) => {
  process.stderr.write('the listeners of the sandbox could not be opened: ' + error.message + '\n');
  process.exit(1);
});
`;
