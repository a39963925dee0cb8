import { describe, expect, it } from 'vitest';
import { isElsewhere, isPublicAddress, literalAddress, ownAddresses } from './outbound-addresses.ts';

describe('isPublicAddress', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '172.32.0.1', '192.169.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])('takes %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('isElsewhere', () => {
  const own = ['127.0.0.1', '93.184.215.14', '2606:4700:4700::1111', 'fe80::1%eth0'];

  it.each(['93.184.215.14', '2606:4700:4700::1111', '2606:4700:4700:0::1111', '10.1.2.3', 'localhost'])('refuses %s', (address) => {
    expect(isElsewhere(address, own)).toBe(false);
  });

  it.each(['93.184.215.15', '2606:4700:4700::1112'])('takes %s', (address) => {
    expect(isElsewhere(address, own)).toBe(true);
  });

  it('knows the addresses of this machine', () => {
    expect(ownAddresses()).toContain('127.0.0.1');
  });
});

describe('literalAddress', () => {
  it.each([
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://example.test/', undefined],
  ])('sees the address in %s', (url, address) => {
    expect(literalAddress(new URL(url).hostname)).toBe(address);
  });
});
