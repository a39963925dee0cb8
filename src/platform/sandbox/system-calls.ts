/** A system call with its number on x64 and on arm64; null where the machine has none of that name. */
type SystemCall = readonly [name: string, x64: number, arm64: number | null];

/** Refused to code that is confined. None of them needs a privilege, so namespaces and dropped capabilities alone leave them open. */
const REFUSED: readonly SystemCall[] = [
  // A second process has limits of its own, so that memory would no longer be bounded.
  ['fork', 57, null],
  ['vfork', 58, null],
  // A new user namespace brings privileges inside it, and with them most of the kernel.
  ['unshare', 272, 97],
  ['setns', 308, 268],
  // No network is there; families that are not of the network namespace, such as vsock, would be.
  ['socket', 41, 198],
  // Memory that belongs to no process, so that no limit counts it.
  ['shmget', 29, 194],
  ['shmat', 30, 196],
  ['semget', 64, 190],
  ['msgget', 68, 186],
  ['mq_open', 240, 180],
  ['memfd_create', 319, 279],
  ['memfd_secret', 447, 447],
  // Other processes.
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['pidfd_getfd', 438, 438],
  ['kcmp', 312, 272],
  // Large parts of the kernel that a program of a model does not need.
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['io_uring_setup', 425, 425],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  ['personality', 135, 92],
  ['name_to_handle_at', 303, 264],
  ['open_by_handle_at', 304, 265],
];

const CLONE3 = 435;
const CLONE_THREAD = 0x10000;
/** x64 kernels take calls of the x32 machine too; their numbers begin here. */
const X32 = 0x40000000;

interface Machine {
  /** How the kernel names it to a filter. */
  readonly audit: number;
  readonly clone: number;
  readonly numberOf: (call: SystemCall) => number | null;
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, clone: 56, numberOf: ([, x64]) => x64 },
  arm64: { audit: 0xc00000b7, clone: 220, numberOf: ([, , arm64]) => arm64 },
};

/** Where `struct seccomp_data` holds what is looked at. The low half of the first argument has all flags of clone. */
const NUMBER = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
/** glibc falls back to clone, whose flags can be read here; those of clone3 lie in memory. */
const ENOSYS = 0x00050026;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
/** These go on with the next instruction, or leave out so many. */
const ifEqual = (value: number, elseLeaveOut: number): Instruction => [0x15, 0, elseLeaveOut, value];
const ifAtLeast = (value: number, elseLeaveOut: number): Instruction => [0x35, 0, elseLeaveOut, value];
const unlessEqual = (value: number, elseLeaveOut: number): Instruction => [0x15, elseLeaveOut, 0, value];
const unlessSet = (bits: number, elseLeaveOut: number): Instruction => [0x45, elseLeaveOut, 0, bits];

/** The filter in the form that the kernel takes (classic BPF, little endian); undefined for a machine whose numbers are not known. */
export function systemCallFilter(arch: string): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const refused = REFUSED.map(machine.numberOf).filter((number) => number !== null);
  return assemble([
    load(MACHINE),
    unlessEqual(machine.audit, 1),
    answer(KILL),
    load(NUMBER),
    ifAtLeast(X32, 1),
    answer(EPERM),
    ...refused.flatMap((number) => [ifEqual(number, 1), answer(EPERM)]),
    ifEqual(CLONE3, 1),
    answer(ENOSYS),
    ifEqual(machine.clone, 3),
    load(FIRST_ARGUMENT),
    unlessSet(CLONE_THREAD, 1),
    answer(EPERM),
    answer(ALLOW),
  ]);
}

function assemble(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
