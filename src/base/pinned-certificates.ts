import type { TLSSocket } from 'node:tls';
import { nodeTls } from './builtin/tls.ts';

/** The certificate that a home has named for its server. */
interface Pin {
  readonly sha256: string;
  /** The one that the home names now: certificates are renewed while servers run. */
  renewed(): string | undefined;
}

/** Certificates of servers on this machine that their homes have named, by the origin of their address. */
const pins = new Map<string, Pin>();

/** From now on this process calls that server only if it shows this certificate; who signed it does not matter. */
export function pinCertificate(url: string, pin: Pin): void {
  pins.set(new URL(url).origin, pin);
}

export function pinOf(url: string): Pin | undefined {
  return url.startsWith('https:') ? pins.get(new URL(url).origin) : undefined;
}

/** Words of OpenSSL and Node for a certificate that is not trusted, has expired, or names another host: nothing was sent. */
export const CERTIFICATE_FAULT = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

/** The code of the error when a server shows another certificate than the one that was named. */
export const OTHER_CERTIFICATE = 'CERT_OTHER_THAN_NAMED';

/** A connection to the server that has this certificate. Nothing is sent before the certificate was seen. */
export async function pinnedSocket(url: string, { sha256, renewed }: Pin): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return await new Promise((resolve, reject) => {
    const socket = nodeTls().connect({ host, port: Number(port || 443), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => {
      const shown = socket.getPeerX509Certificate()?.fingerprint256;
      if (shown !== undefined && (shown === sha256 || shown === renewed())) resolve(socket);
      else
        socket.destroy(Object.assign(new Error(`${url} shows another certificate than its home has named`), { code: OTHER_CERTIFICATE }));
    });
    socket.once('error', reject);
  });
}
