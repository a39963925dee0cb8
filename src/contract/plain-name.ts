import { z } from 'zod';

/**
 * Characters that no name may have: those that steer a terminal or a log, halves of a pair, which have no UTF-8 form, and marks that turn the
 * direction of what follows. PostgreSQL takes a NUL in no text.
 */
const STEERING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** A name that people give to something, as lists, logs and terminals show it. */
export function plainName(most = 200) {
  return z
    .string()
    .max(most)
    .refine((name) => !STEERING.test(name), 'must not contain a NUL, a control character or a mark of direction');
}
