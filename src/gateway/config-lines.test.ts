import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ConfigPlaces, linesOf } from './config-lines.ts';

const FILE = `# the server
server.port = 9000 # here

[engines.claude]
key = "not = a member"
headers = { "x-team" = "docs" }
note = """
[fake]
port = 1
"""

[ engines."my engine" ]
url = 'http://127.0.0.1:1'

[[routes]]
match = "gpt-*"

[policy]
deny_models = [
  "a",
]
`;

it('finds the line of every member, and takes no text and no list of tables for one', () => {
  expect([...linesOf(FILE)]).toEqual([
    ['server.port', 2],
    ['engines.claude.key', 5],
    ['engines.claude.headers', 6],
    ['engines.claude.note', 7],
    ['engines.my engine.url', 13],
    ['policy.deny_models', 19],
  ]);
});

it('says the name of the file and the line, also for a value inside another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-lines-'));
  try {
    const file = join(folder, 'team.toml');
    writeFileSync(file, FILE);
    const places = new ConfigPlaces(file);
    expect(places.of('server.port')).toBe('team.toml:2');
    expect(places.of('engines.claude.headers.x-team')).toBe('team.toml:6');
    expect(places.of('server.host')).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
