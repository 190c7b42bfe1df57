// Reads what a broker asked of the machine, as `strace -f -y -xx` tells it, and judges it: a PublishAck may go to a socket only when the
// bytes of its message were written to the write-ahead log and a sync of the log has ended since. It knows the file by its ending and
// messages by their ids, which must stand nowhere else. Pure. Implements DURABLE-001 as an account of system calls.

/** What must be traced. */
export const TRACED_CALLS = 'pwrite64,write,writev,sendto,sendmsg,fdatasync,fsync';
/** How much of each write must be shown: a page of the database, and what leads up to it. */
export const SHOWN_BYTES = 5_000;

type Call = {
  readonly name: string;
  /** What the descriptor stands for: the path of a file, or the words for a socket. */
  readonly target: string;
  readonly bytes: Buffer;
};

const PUBLISH_ACK = 21;
const FRAME_HEADER_BYTES = 5;

/** Why each PublishAck came too early, by id; with how many came in time. */
export type Verdict = { readonly problems: readonly string[]; readonly coveredCount: number };

export function judgeTrace(text: string, ids: readonly string[]): Verdict {
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

/** Whether a whole frame that confirms this id is among the bytes of a write. */
function hasPublishAck(bytes: Buffer, id: string): boolean {
  const start = Buffer.concat([Buffer.from([0, 1, PUBLISH_ACK, 0, id.length]), Buffer.from(id)]);
  return bytes.indexOf(start, FRAME_HEADER_BYTES - 1) !== -1;
}

/**
 * The calls in the order that counts here: a sync when it has ended well, a write when it began. A call that another thread's
 * line interrupts stands in two lines.
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

/** Paths are shown in hexadecimal too, as all texts are. */
function unescaped(text: string): string {
  return text.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) => fromHex(hex).toString());
}
