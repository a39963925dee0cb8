import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Certificates that have signed themselves, for tests alone: the first one is for 127.0.0.1 and localhost, the second for nothing. */
const CERTIFICATES = [
  {
    cert: `-----BEGIN CERTIFICATE-----
MIIBmTCCAT+gAwIBAgIUSR4J1mZNfjgjd5cmNel5rCgABFYwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIYWJwIHRlc3QwIBcNMjYxMTE2MTA0MTAzWhgPMjEyNjEwMjMx
MDQxMDNaMBMxETAPBgNVBAMMCGFicCB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEjw8qthP9OK3KDVWE7wXD5Sc3s0URiP7J8RGSwjk2Ku8hp0V5z9TESW4b
QRo9KfJeMtRE+4ObuXXAm+CbGrAAh6NvMG0wHQYDVR0OBBYEFIfqz1PC73rKUUfb
OFjrzR549+eUMB8GA1UdIwQYMBaAFIfqz1PC73rKUUfbOFjrzR549+eUMA8GA1Ud
EwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJbG9jYWxob3N0MAoGCCqGSM49
BAMCA0gAMEUCIQCVP2olWJocnbCUEx/Fs3UWxjDHFM65qpBhaNnm2VXC9gIgeV2E
KxEW0b1wr7iy1p4U9HDFkWPNT3JP1C8o4Jtgu0U=
-----END CERTIFICATE-----
`,
    key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMqtiuMUMOi+kItIF
EFnzC7kKLLTUOBWK6ijKqzJ2VZGhRANCAASPDyq2E/04rcoNVYTvBcPlJzezRRGI
/snxEZLCOTYq7yGnRXnP1MRJbhtBGj0p8l4y1ET7g5u5dcCb4JsasACH
-----END PRIVATE KEY-----
`,
  },
  {
    cert: `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUYnEs9HnqV/zZR9z0q8UIHmNcxIwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYWJwIG90aGVyMCAXDTI2MTExNjEwNDEwM1oYDzIxMjYxMDIz
MTA0MTAzWjAUMRIwEAYDVQQDDAlhYnAgb3RoZXIwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQG4GSJ77gET6tQGbohBPiWAQb9BjEzOCJP3jxuIn1YKuo+X+IwHaa/
8U3H2CxJqgcPe7AQ2kfC/Wdy3VJwT3XSo1MwUTAdBgNVHQ4EFgQUKeVmRF0bOoRf
9lR/f9Wd10IhIwIwHwYDVR0jBBgwFoAUKeVmRF0bOoRf9lR/f9Wd10IhIwIwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAkpPgFopCyza+0ZfM8deP
BlzT3pfJLB3ZEFEsnMEpWg0CIQDkjW5JfFxwAxxCttknvaKD4PgzxGivcmfJHwhj
ONsNOQ==
-----END CERTIFICATE-----
`,
    key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9jLT196DjM8+ql9z
g2ztOS2xb60JmUo48Od1t4Ns01yhRANCAAQG4GSJ77gET6tQGbohBPiWAQb9BjEz
OCJP3jxuIn1YKuo+X+IwHaa/8U3H2CxJqgcPe7AQ2kfC/Wdy3VJwT3XS
-----END PRIVATE KEY-----
`,
  },
] as const;

/** Files with a certificate and its key, as `server.cert_file` and `server.key_file` name them; they go away with the process. */
export function certificateFiles(which: 0 | 1 = 0): { readonly [File in 'cert_file' | 'key_file']: string } {
  const folder = mkdtempSync(join(tmpdir(), 'abp-certificate-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const files = { cert_file: join(folder, 'cert.pem'), key_file: join(folder, 'key.pem') };
  writeFileSync(files.cert_file, CERTIFICATES[which].cert);
  writeFileSync(files.key_file, CERTIFICATES[which].key, { mode: 0o600 });
  return files;
}
