import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import './qr.css';

/** A text as squares that a camera reads. What draws them is loaded when it is first needed. */
export function Qr({ text }: { readonly text: string }): JSX.Element | null {
  const code = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => {
      const { encode } = await import('uqr');
      return encode(text, { ecc: 'M', border: 2 });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    networkMode: 'always',
  });
  if (code.data === undefined) return null;
  const { data, size } = code.data;
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="A code for the camera of a phone; the same link stands below"
    >
      <path d={path} />
    </svg>
  );
}
