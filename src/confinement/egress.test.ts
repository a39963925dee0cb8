import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Egress, type EgressRecord, type EgressRules } from './egress.ts';

const origin = createHttpServer((req, res) => res.end(`${req.method} ${req.url} ${req.headers.host}`));
let originPort = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  originPort = (origin.address() as AddressInfo).port; // it listens on TCP
});
afterAll(() => void origin.close());

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'example.com': ['93.184.215.14'],
  'sub.example.com': ['93.184.215.14'],
  'inside.example.com': ['10.0.0.7'],
  'both.example.com': ['93.184.215.14', '127.0.0.1'],
  localhost: ['127.0.0.1'],
  'here.example.com': ['93.184.215.15'],
  'both-here.example.com': ['93.184.215.14', '2606:4700::2222'],
};
/** Of the machine of the backplane. */
const OWN = ['127.0.0.1', '93.184.215.15', '2606:4700::2222'];
const IS_OWN = 'is an address of the machine of the backplane, which no rule names';

/** The proxy on a port, as the starter of a room gives it connections. */
async function proxy(rules: Partial<EgressRules>): Promise<{ port: number; records: EgressRecord[] }> {
  const records: EgressRecord[] = [];
  const egress = new Egress({
    rules: { allow: [], deny: [], ...rules },
    onRecord: (record) => records.push(record),
    resolve: async (host) => NAMES[host] ?? [],
    // Whatever was judged: nothing outside of this machine is dialled.
    dial: () => connect(originPort, '127.0.0.1'),
    own: () => OWN,
  });
  const door = createServer((socket) => egress.accept(socket));
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    egress.close();
    door.close();
  });
  return { port: (door.address() as AddressInfo).port, records };
}

/** The first line that CONNECT is answered with; a tunnel that begins to be dialled counts as let through. */
async function verdict(rules: Partial<EgressRules>, authority: string): Promise<string> {
  const { port, records } = await proxy(rules);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  await expect.poll(() => records.length).toBe(1);
  socket.destroy();
  return records[0]?.refused ?? 'through';
}

it.each<[string, Partial<EgressRules>, string, string]>([
  ['any public host', {}, 'example.com:443', 'through'],
  ['an allowed one', { allow: ['example.com'] }, 'example.com:443', 'through'],
  ['a name in another case and with the dot of the root', { allow: ['example.com'] }, 'EXAMPLE.com.:443', 'through'],
  ['a subdomain by its pattern', { allow: ['*.example.com'] }, 'sub.example.com:443', 'through'],
  ['an address that a rule names', { allow: ['10.0.0.7:8443'] }, '10.0.0.7:8443', 'through'],
  ['a public address of this machine that a rule names', { allow: ['93.184.215.15'] }, '93.184.215.15:443', 'through'],
  ['a public address where no host is denied by its name', { deny: ['10.0.0.*'] }, '93.184.215.14:443', 'through'],
  [
    'an address that a rule names, beside hosts that are denied',
    { allow: ['93.184.215.14'], deny: ['evil.com'] },
    '93.184.215.14:443',
    'through',
  ],
])('lets %s through', async (_, rules, authority, expected) => {
  expect(await verdict(rules, authority)).toBe(expected);
});

it.each<[string, Partial<EgressRules>, string, string]>([
  ['a host that is not allowed', { allow: ['example.com'] }, 'evil.com:443', 'is not allowed by the policy'],
  ['a host that only begins like an allowed one', { allow: ['example.com'] }, 'example.com.evil.com:443', 'is not allowed by the policy'],
  ['a host that only ends like an allowed one', { allow: ['*.example.com'] }, 'notexample.com:443', 'is not allowed by the policy'],
  ['a denied host', { deny: ['*.example.com'] }, 'sub.example.com:443', 'is denied by the policy'],
  ['a denied host that is also allowed', { allow: ['*'], deny: ['example.com'] }, 'example.com.:443', 'is denied by the policy'],
  ['a denied host with more dots than that of the root', { deny: ['example.com'] }, 'example.com..:443', 'is denied by the policy'],
  ['a denied host on any port', { allow: ['*:8443'], deny: ['example.com'] }, 'example.com:8443', 'is denied by the policy'],
  ['a name of a denied address', { deny: ['93.184.215.14'] }, 'example.com:443', 'is denied by the policy'],
  ['a name of an address in a denied network', { deny: ['93.184.*'] }, 'example.com:443', 'is denied by the policy'],
  ['a denied address in another spelling', { deny: ['2606:4700:0:0::1111'] }, '[2606:4700::1111]:443', 'is denied by the policy'],
  [
    'the address of a denied host',
    { deny: ['evil.com'] },
    '93.184.215.14:443',
    'is an address, which may be that of a host that is denied',
  ],
  [
    'the same, although all is allowed',
    { allow: ['*'], deny: ['evil.com'] },
    '1572395022:443',
    'is an address, which may be that of a host that is denied',
  ],
  ['a private address, for what it is, where a host is denied', { deny: ['evil.com'] }, '10.0.0.7:443', 'is not on the public internet'],
  ['another port', {}, 'example.com:22', 'is on a port that no rule names'],
  ['another port of an allowed host', { allow: ['example.com'] }, 'example.com:8080', 'is on a port that no rule names'],
  ['a private address', {}, '10.0.0.7:443', 'is not on the public internet'],
  ['the metadata service', {}, '169.254.169.254:80', 'is not on the public internet'],
  ['loopback in another spelling', {}, '127.1:443', 'is not on the public internet'],
  ['loopback in hexadecimal', {}, '0x7f.1:443', 'is not on the public internet'],
  ['loopback in octal', {}, '0177.0.0.1:443', 'is not on the public internet'],
  ['an IPv4 address inside of IPv6 by NAT64', {}, '[64:ff9b::7f00:1]:443', 'is not on the public internet'],
  ['loopback as a number', {}, '2130706433:443', 'is not on the public internet'],
  ['loopback over IPv6', {}, '[::1]:443', 'is not on the public internet'],
  ['loopback inside IPv6', {}, '[::ffff:127.0.0.1]:443', 'is not on the public internet'],
  ['localhost, although its name is allowed', { allow: ['localhost'] }, 'localhost:443', 'is not on the public internet'],
  ['a public name of a private address', { allow: ['*'] }, 'inside.example.com:443', 'is not on the public internet'],
  ['a name with a private address among public ones', {}, 'both.example.com:443', 'is not on the public internet'],
  ['a public address of this machine', {}, '93.184.215.15:443', IS_OWN],
  ['the same, although all is allowed', { allow: ['*', '93.184.*'] }, '93.184.215.15:80', IS_OWN],
  ['the same over IPv6, in another spelling', {}, '[2606:4700:0::2222]:443', IS_OWN],
  ['a name of this machine, although it is allowed', { allow: ['here.example.com'] }, 'here.example.com:443', IS_OWN],
  ['a name of this machine and of another', {}, 'both-here.example.com:443', IS_OWN],
  ['a name without an address', {}, 'nowhere.example.com:443', 'has no address'],
])('refuses %s', async (_, rules, authority, expected) => {
  expect(await verdict(rules, authority)).toBe(expected);
});

it('forwards plain HTTP to the address that was judged, without what is meant for proxies', async () => {
  const { port, records } = await proxy({ allow: [`127.0.0.1:${originPort}`] });
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: `http://127.0.0.1:${originPort}/a?b=c`, headers: { 'proxy-authorization': 'Basic x' } },
      (res) => res.setEncoding('utf8').on('data', resolve),
    );
    sent.once('error', reject);
    sent.end();
  });
  expect(answer).toBe(`GET /a?b=c 127.0.0.1:${originPort}`);
  expect(records).toEqual([{ host: '127.0.0.1', port: originPort }]);
});

/** What a program in a room gets from a host that answers every request with these bytes. */
async function answerOf(bytes: string, headers = ''): Promise<string> {
  const host = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(bytes)));
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void host.close());
  const at = (host.address() as AddressInfo).port; // it listens on TCP
  const { port } = await proxy({ allow: [`127.0.0.1:${at}`] });
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET http://127.0.0.1:${at}/ HTTP/1.1\r\nHost: x\r\n${headers}\r\n`));
    socket.setEncoding('utf8').once('data', (text: string) => resolve(text.split('\r\n')[0] ?? ''));
  });
}

it.each([
  ['a status that is none', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n', '502 Bad Gateway'],
  ['the status 0', 'HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n', '502 Bad Gateway'],
  ['another protocol', 'HTTP/1.1 101 Odd\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', '502 Bad Gateway'],
  ['no HTTP', '\0\x01', '502 Bad Gateway'],
  ['nothing', '', '502 Bad Gateway'],
  ['hints before its answer', 'HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', '200 OK'],
  ['a status that nobody has defined', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', '999 unknown'],
])('lives through a host that answers with %s, and says so', async (_, bytes, status) => {
  expect(await answerOf(bytes)).toBe(`HTTP/1.1 ${status}`);
  expect(await answerOf(bytes, 'Connection: upgrade\r\nUpgrade: websocket\r\n')).toBe(`HTTP/1.1 ${status}`);
});

it.each([
  ['CONNECT ex\u00e4mple.com:443', 'ex.mple.com:443', '400 Bad Request'],
  ['CONNECT a#b:443', 'a#b:443', '400 Bad Request'],
  ['CONNECT a\\b:443', 'a\\b:443', '400 Bad Request'],
  ['FOO http://example.com/', 'http://example.com', '400 Bad Request'],
  ['CONNECT :443', ':443', '403 Forbidden'],
  ['CONNECT example.com:99999', 'example.com:99999', '403 Forbidden'],
  ['GET /path?secret=1', '/', '403 Forbidden'],
  ['GET https://me:secret@example.com/secret', 'https://example.com', '403 Forbidden'],
])('answers and records %s, which leads nowhere', async (line, host, status) => {
  const { port, records } = await proxy({});
  const answered = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1')));
    socket.setEncoding('utf8').once('data', resolve);
    socket.once('close', () => resolve('closed without a word'));
  });
  expect(answered).toContain(`HTTP/1.1 ${status}`);
  const refused = status.startsWith('400') ? 'is not asked for in valid HTTP' : 'names no host that can be reached by this proxy';
  expect(records).toEqual([{ host, port: 0, refused }]);
});

it('takes so many connections of a room at a time, and tells of those beyond', async () => {
  const { port, records } = await proxy({});
  const open = await Promise.all(
    Array.from({ length: 512 }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
  const answerTo = async (line: string): Promise<string> =>
    await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`)).on('error', () => undefined);
      socket.setEncoding('utf8').once('data', (text: string) => resolve(text.split('\r\n')[0] ?? ''));
    });
  expect(await answerTo('GET /')).toBe('HTTP/1.1 503 Service Unavailable');
  expect(records).toEqual([{ host: '', port: 0, refused: 'was not asked for: a run may have 512 connections open' }]);
  for (const socket of open) socket.destroy();
  await expect.poll(async () => await answerTo('GET /')).toBe('HTTP/1.1 403 Forbidden');
});

it('answers a refusal with 403 and the reason', async () => {
  const { port } = await proxy({ deny: ['*'] });
  const answered = await fetch(`http://127.0.0.1:${port}/not-for-a-proxy`);
  expect(answered.status).toBe(403);
  const refused = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'));
    socket.setEncoding('utf8').on('data', resolve);
  });
  expect(refused).toContain('403 Forbidden');
  expect(refused).toContain('example.com:443 is denied by the policy');
});
