// Explains in words why the system refused a file operation, and what to do. A user whose disk is full reads one sentence instead of a
// stack trace.

const refusals: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  ENOSPC: ['the disk is full', 'free some space, or choose another path'],
  EDQUOT: ['the disk quota is used up', 'free some space, or choose another path'],
  EFBIG: ['the file would be larger than allowed', 'raise the limit, or choose another path'],
  EACCES: ['permission is denied', 'change the permissions, or choose another path'],
  EPERM: ['the operation is not permitted', 'choose another path'],
  EROFS: ['the file system is read-only', 'choose another path'],
  ENOENT: ['the folder does not exist', 'create it, or choose another path'],
  ENOTDIR: ['a part of the path is a file and not a folder', 'choose another path'],
  EEXIST: ['a part of the path is a file and not a folder', 'choose another path'],
  EISDIR: ['it is a folder', 'choose another path'],
  EBUSY: ['it is in use', 'choose another path'],
  ELOOP: ['its symbolic links form a circle', 'choose another path'],
  ENAMETOOLONG: ['the name is too long', 'choose another path'],
  ENXIO: ['no program reads from it', 'start the reader first'],
  EPIPE: ['the program that read from it has ended', 'keep the reader running until the end'],
  EMFILE: ['too many files are open', 'raise the limit with ulimit -n'],
};

/** The system refused an operation that the runner needs. The message is one sentence, and is printed without a stack trace. */
export class SystemFault extends Error {}

/** For example `the disk is full (ENOSPC); free some space, or choose another path`. Undefined for an error that is not from the system. */
export function systemFaultText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  // A file system such as /proc reports ENOENT if it does not allow new folders.
  if (code === 'ENOENT' && syscall === 'mkdir')
    return 'no folder can be created there (ENOENT); choose another path';
  const [reason, advice] = refusals[code] ?? [];
  return reason === undefined ? error.message : `${reason} (${code}); ${advice}`;
}

/** The text printed for an error that ends a command: one sentence if the system refused an operation, otherwise the stack trace. */
export function endingText(error: unknown): string {
  if (error instanceof SystemFault) return error.message;
  const refused = systemFaultText(error);
  if (refused !== undefined) return `${(error as NodeJS.ErrnoException).path ?? 'the system'}: ${refused}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
