// Reads the system calls of a broker from the output of `strace -f -y -xx` and checks DURABLE-001: a PublishAck may be written to a socket
// only after its message was written to the write-ahead log and a sync of the log has ended. Recognizes the file by its extension and
// messages by their ids, which must not occur elsewhere. Pure.

/** The system calls to trace. */
export const TRACED_CALLS = 'pwrite64,write,writev,sendto,sendmsg,fdatasync,fsync';
/** The bytes of each write to print: a page of the database, of 8 KiB, and the header before it. */
export const SHOWN_BYTES = 9_000;

type Call = {
  readonly name: string;
  /** The target of the descriptor: the path of a file, or strace's words for a socket. */
  readonly target: string;
  readonly bytes: Buffer;
};

const PUBLISH_ACK = 21;
const FRAME_HEADER_BYTES = 5;

/** Why each early PublishAck was too early, by id; and the number of correct ones. */
export type SyncVerdict = { readonly problems: readonly string[]; readonly coveredCount: number };

export function judgeTrace(text: string, ids: readonly string[]): SyncVerdict {
  const [written, synced] = [new Set<string>(), new Set<string>()];
  const problems: string[] = [];
  let coveredCount = 0;
  for (const { name, target, bytes } of callsOf(text)) {
    if (target.endsWith('-wal')) {
      if (name === 'fdatasync' || name === 'fsync') for (const id of written) synced.add(id);
      else for (const id of ids) if (bytes.includes(id)) written.add(id);
    } else if (isSocket(target)) {
      for (const id of ids.filter((each) => hasPublishAck(bytes, each))) {
        if (synced.has(id)) coveredCount += 1;
        else
          problems.push(
            `${id} was confirmed before ${written.has(id) ? 'its sync had ended' : 'it was written'}`,
          );
      }
    }
  }
  return { problems, coveredCount };
}

function isSocket(target: string): boolean {
  return /^(socket|TCP)/.test(target);
}

/** Whether the bytes of a write contain a whole PublishAck with this id. */
function hasPublishAck(bytes: Buffer, id: string): boolean {
  const start = Buffer.concat([Buffer.from([0, 1, PUBLISH_ACK, 0, id.length]), Buffer.from(id)]);
  return bytes.indexOf(start, FRAME_HEADER_BYTES - 1) !== -1;
}

/**
 * The calls in the order that matters: a sync when it has ended successfully, a write when it began. A call that is interrupted by another
 * thread's line has two lines.
 */
function* callsOf(text: string): Iterable<Call> {
  const unfinished = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, thread = '', rest = ''] = /^(?:\[pid +)?(\d+)\]? +(.*)$/.exec(line) ?? [];
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1];
    if (begun !== undefined) {
      unfinished.set(thread, begun);
      if (!isSync(begun)) yield* callOf(begun);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    if (resumed === undefined) {
      if (!isSync(rest) || hasEndedWell(rest)) yield* callOf(rest);
      continue;
    }
    const whole = (unfinished.get(thread) ?? '') + resumed;
    unfinished.delete(thread);
    if (isSync(whole) && hasEndedWell(whole)) yield* callOf(whole);
  }
}

function isSync(call: string): boolean {
  return /^(fdatasync|fsync)\(/.test(call);
}

function hasEndedWell(call: string): boolean {
  return / = 0$/.test(call);
}

function* callOf(line: string): Iterable<Call> {
  const match = /^(\w+)\(\d+<([^>]*(?:->[^>]*)?)>(.*)$/.exec(line);
  if (match === null) return;
  const [, name = '', target = '', rest = ''] = match;
  const texts = [...rest.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = '']) => fromHex(text));
  yield { name, target: unescaped(target), bytes: Buffer.concat(texts) };
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/** strace prints paths in hexadecimal, like all texts. */
function unescaped(text: string): string {
  return text.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) => fromHex(hex).toString());
}
