import { describe, expect, it } from 'vitest';
import { seatbeltProfile } from './seatbelt.ts';

const room = {
  workspace: '/Users/ada/project',
  writable: true,
  home: '/Users/ada/.abp/rooms/seatbelt',
  shown: ['/Users/ada/.nvm/versions'],
  ports: [8088, 3128],
  denyRead: ['**/.env'],
  denyWrite: ['docs/{a,b}.md'],
};

describe('a profile for macOS, which nobody has run yet', () => {
  it('denies everything, allows the room, and denies parts of it again', () => {
    expect(seatbeltProfile(room)).toMatchInlineSnapshot(`
      "(version 1)
      (deny default)
      (allow process-exec process-fork)
      (allow signal process-info*
        (target same-sandbox))
      (allow sysctl-read)
      (allow mach-lookup
        (global-name "com.apple.system.opendirectoryd.libinfo")
        (global-name "com.apple.system.logger")
        (global-name "com.apple.system.notification_center")
        (global-name "com.apple.trustd.agent")
        (global-name "com.apple.diagnosticd"))
      (allow file-read-metadata
        (literal "/Users")
        (literal "/Users/ada")
        (literal "/Users/ada/.abp")
        (literal "/Users/ada/.abp/rooms")
        (literal "/Users/ada/.nvm"))
      (allow file-read*
        (literal "/")
        (subpath "/usr")
        (subpath "/bin")
        (subpath "/sbin")
        (subpath "/System")
        (subpath "/Library/Apple")
        (subpath "/Library/Developer")
        (subpath "/Applications/Xcode.app")
        (subpath "/opt")
        (subpath "/nix")
        (subpath "/private/etc/ssl")
        (subpath "/private/etc/hosts")
        (subpath "/private/etc/passwd")
        (subpath "/private/etc/group")
        (subpath "/private/etc/protocols")
        (subpath "/private/etc/services")
        (subpath "/private/etc/localtime")
        (subpath "/private/etc/shells")
        (subpath "/private/etc/zshrc")
        (subpath "/private/etc/profile")
        (subpath "/private/etc/bashrc")
        (subpath "/private/etc/gitconfig")
        (subpath "/Users/ada/.nvm/versions")
        (subpath "/Users/ada/project")
        (subpath "/Users/ada/.abp/rooms/seatbelt")
        (literal "/dev/null")
        (literal "/dev/zero")
        (literal "/dev/random")
        (literal "/dev/urandom")
        (literal "/dev/tty")
        (literal "/dev/dtracehelper"))
      (allow file-write*
        (subpath "/Users/ada/project")
        (subpath "/Users/ada/.abp/rooms/seatbelt")
        (subpath "/private/tmp/abp-agent")
        (literal "/dev/null")
        (literal "/dev/zero")
        (literal "/dev/random")
        (literal "/dev/urandom")
        (literal "/dev/tty")
        (literal "/dev/dtracehelper"))
      (allow network-outbound
        (remote ip "localhost:8088")
        (remote ip "localhost:3128"))
      (deny file-read* file-write*
        (regex #"^/Users/ada/project/(.*/)?\\.env(/.*)?$"))
      (deny file-write*
        (regex #"^/Users/ada/project/(.*/)?\\.git/hooks(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.git/config(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.git/commondir(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.gitmodules(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.vscode(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.idea(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.claude(/.*)?$")
        (regex #"^/Users/ada/project/(.*/)?\\.codex(/.*)?$")
        (regex #"^/Users/ada/project/(docs/a\\.md|docs/b\\.md)(/.*)?$"))
      (deny file-write-unlink
        (literal "/Users/ada/project")
        (literal "/Users")
        (literal "/Users/ada")
        (regex #"^/Users/ada/project/(.*/)?\\.git(/.*)?$"))
      "
    `);
  });

  it('lets nothing be written in the workspace, and nothing reach the network, where neither is wanted', () => {
    const profile = seatbeltProfile({ ...room, writable: false, ports: [] });
    expect(profile).not.toContain('network');
    expect(profile).toContain('(allow file-write*\n  (subpath "/Users/ada/.abp/rooms/seatbelt")');
  });

  it('takes paths as they are, whatever characters they have', () => {
    const profile = seatbeltProfile({ ...room, workspace: '/Users/ada/a "b" (c)+[d]\\e', denyRead: ['x'] });
    expect(profile).toContain('(subpath "/Users/ada/a \\"b\\" (c)+[d]\\\\e")');
    expect(profile).toContain('(regex #"^/Users/ada/a .b. \\(c\\)\\+\\[d\\]\\\\e/x(/.*)?$")');
  });
});
