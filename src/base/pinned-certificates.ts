import { connect, type TLSSocket } from 'node:tls';

/** Certificates of servers on this machine that their homes have named: SHA-256 by the origin of their address. */
const pins = new Map<string, string>();

/** From now on this process calls that server only if it shows this certificate; who signed it does not matter. */
export function pinCertificate(url: string, sha256: string): void {
  pins.set(new URL(url).origin, sha256);
}

export function pinOf(url: string): string | undefined {
  return url.startsWith('https:') ? pins.get(new URL(url).origin) : undefined;
}

/** Words of OpenSSL and Node for a certificate that is not trusted, has expired, or names another host: nothing was sent. */
export const CERTIFICATE_FAULT = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

/** The code of the error when a server shows another certificate than the one that was named. */
export const OTHER_CERTIFICATE = 'CERT_OTHER_THAN_NAMED';

/** A connection to the server that has this certificate. Nothing is sent before the certificate was seen. */
export async function pinnedSocket(url: string, sha256: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return await new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => {
      if (socket.getPeerX509Certificate()?.fingerprint256 === sha256) resolve(socket);
      else
        socket.destroy(Object.assign(new Error(`${url} shows another certificate than its home has named`), { code: OTHER_CERTIFICATE }));
    });
    socket.once('error', reject);
  });
}
