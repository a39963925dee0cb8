import type { IrError } from '../ir/response.ts';

/** `usual`, the vendor's status for this kind of failure; 502 for an answer that came under a good status, or through a gateway, and is none. */
export function toldStatus({ kind, status }: IrError, usual: number): number {
  return kind === 'server' && (status < 400 || status === 502) ? 502 : usual;
}
