/** A system call with its number on x64 and on arm64; null where the machine has none of that name. */
type SystemCall = readonly [name: string, x64: number, arm64: number | null];

/** Refused to code of models, which is one process. None of them needs a privilege, so namespaces and dropped capabilities leave them open. */
const REFUSED_TO_CODE: readonly SystemCall[] = [
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

/** Refused to whole programs, such as coding agents, which fork, build and talk to their network. */
const REFUSED_TO_PROGRAMS: readonly SystemCall[] = [
  // File systems: a program that may mount can show itself anything.
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['chroot', 161, 51],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['mount_setattr', 442, 442],
  ['open_tree_attr', 467, 467],
  ['quotactl', 179, 60],
  ['quotactl_fd', 443, 443],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['acct', 163, 89],
  // A new user namespace brings privileges inside it, and with them most of the kernel.
  ['unshare', 272, 97],
  ['setns', 308, 268],
  // Large parts of the kernel that building software does not need.
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
  // The session keyring is inherited through every namespace.
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  ['open_by_handle_at', 304, 265],
  // The machine itself.
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
  ['reboot', 169, 142],
  ['iopl', 172, null],
  ['ioperm', 173, null],
  ['syslog', 103, 116],
];

const CLONE3 = 435;
const CLONE_THREAD = 0x10000;
/** Every flag of clone that makes a namespace. */
const CLONE_NAMESPACES = 0x7e020000;
/** Requests of ioctl that put characters into a terminal, as if somebody had typed them. */
const TYPED_INTO_TERMINALS = [0x5412, 0x541c];
/** x64 kernels take calls of the x32 machine too; their numbers begin here. */
const X32 = 0x40000000;

/** Families of sockets by number. Others, such as vsock, do not belong to the network namespace and would reach out of it. */
const UNIX = 1;
const NETWORKED = [UNIX, 2, 10, 16]; // and IPv4, IPv6, netlink

interface Machine {
  /** How the kernel names it to a filter. */
  readonly audit: number;
  readonly clone: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly numberOf: (call: SystemCall) => number | null;
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, clone: 56, ioctl: 16, socket: 41, socketpair: 53, numberOf: ([, x64]) => x64 },
  arm64: { audit: 0xc00000b7, clone: 220, ioctl: 29, socket: 198, socketpair: 199, numberOf: ([, , arm64]) => arm64 },
};

/** Where `struct seccomp_data` holds what is looked at. The low halves have all flags of clone and all of a request, which the kernel compares. */
const NUMBER = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const EAFNOSUPPORT = 0x00050061;
/** glibc falls back to clone, whose flags can be read here; those of clone3 lie in memory. */
const ENOSYS = 0x00050026;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
/** These go on with the next instruction, or leave out so many. */
const ifEqual = (value: number, elseLeaveOut: number): Instruction => [0x15, 0, elseLeaveOut, value];
const ifAtLeast = (value: number, elseLeaveOut: number): Instruction => [0x35, 0, elseLeaveOut, value];
const ifSet = (bits: number, elseLeaveOut: number): Instruction => [0x45, 0, elseLeaveOut, bits];
const unlessEqual = (value: number, elseLeaveOut: number): Instruction => [0x15, elseLeaveOut, 0, value];
const unlessSet = (bits: number, elseLeaveOut: number): Instruction => [0x45, elseLeaveOut, 0, bits];

/** Judges one system call by its arguments; every way through `judged` ends in an answer. */
const onCall = (number: number, judged: readonly Instruction[]): Instruction[] => [ifEqual(number, judged.length), ...judged];
const refuse = (value: number): Instruction[] => [ifEqual(value, 1), answer(EPERM)];

/** `code`: one process that computes. `programs`: whatever a developer runs. `offline programs`: the same without a network. */
export type FilterKind = 'code' | 'programs' | 'offline programs';

/** The filter in the form that the kernel takes (classic BPF, little endian); undefined for a machine whose numbers are not known. */
export function systemCallFilter(arch: string, kind: FilterKind): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const refused = kind === 'code' ? REFUSED_TO_CODE : REFUSED_TO_PROGRAMS;
  return assemble([
    load(MACHINE),
    unlessEqual(machine.audit, 1),
    answer(KILL),
    load(NUMBER),
    ifAtLeast(X32, 1),
    answer(EPERM),
    ...refused.map(machine.numberOf).flatMap((number) => (number === null ? [] : refuse(number))),
    ifEqual(CLONE3, 1),
    answer(ENOSYS),
    ...(kind === 'code' ? judgedForCode(machine) : judgedForPrograms(machine, kind === 'programs' ? NETWORKED : [UNIX])),
    answer(ALLOW),
  ]);
}

function judgedForCode({ clone, socketpair }: Machine): Instruction[] {
  return [
    ...onCall(clone, [load(FIRST_ARGUMENT), unlessSet(CLONE_THREAD, 1), answer(EPERM), answer(ALLOW)]),
    ...onlyFamilies(socketpair, [UNIX]),
  ];
}

/** The kernel makes a socket of any family for a pair too, before it says whether the family knows pairs. */
function onlyFamilies(call: number, families: readonly number[]): Instruction[] {
  return onCall(call, [load(FIRST_ARGUMENT), ...families.flatMap((family) => [ifEqual(family, 1), answer(ALLOW)]), answer(EAFNOSUPPORT)]);
}

function judgedForPrograms({ clone, ioctl, socket, socketpair }: Machine, families: readonly number[]): Instruction[] {
  return [
    ...onCall(clone, [load(FIRST_ARGUMENT), ifSet(CLONE_NAMESPACES, 1), answer(EPERM), answer(ALLOW)]),
    ...onCall(ioctl, [load(SECOND_ARGUMENT), ...TYPED_INTO_TERMINALS.flatMap(refuse), answer(ALLOW)]),
    ...onlyFamilies(socket, families),
    ...onlyFamilies(socketpair, [UNIX]),
  ];
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
