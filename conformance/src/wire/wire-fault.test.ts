// What a broker breaks by bytes that are no frame: a frame over MaxMessageSize breaks FRAME-018, whatever the check waits for.
import { expect, it } from 'vitest';
import { FrameReader } from './frame-reader.ts';
import { Inbox } from './inbox.ts';

const waitFor = (clause: string) => ({ matches: () => true, what: 'an answer', withinMs: 10_000, clause });

function faultOf(bodyLengthBytes: number): unknown {
  const reader = new FrameReader(4096);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bodyLengthBytes);
  reader.push(head);
  try {
    return reader.next();
  } catch (error) {
    return error;
  }
}

it.each([
  [4096, undefined],
  [
    4097,
    { name: 'WireFault', broken: 'FRAME-018', message: 'body length 4097 is not in the range 2 to 4096' },
  ],
  [67_108_864, { name: 'WireFault', broken: 'FRAME-018' }],
  // No length: bytes of something else.
  [67_108_865, { name: 'WireFault', broken: undefined }],
  [1, { name: 'WireFault', broken: undefined }],
])('a frame with a body length of %d', (length, expected) => {
  const fault = faultOf(length);
  if (expected === undefined) expect(fault).toBeUndefined();
  else expect(fault).toMatchObject(expected);
});

it('a wait that ends by it fails for what it breaks, also one that begins later', async () => {
  const inbox = new Inbox();
  const early = inbox.take(waitFor('FRAME-025'));
  inbox.end('no frame', 'FRAME-018');
  await expect(early).rejects.toMatchObject({ broken: 'FRAME-018', clause: 'FRAME-018' });
  await expect(inbox.take(waitFor('PUBLISH-001'))).rejects.toMatchObject({
    broken: 'FRAME-018',
    clause: 'FRAME-018',
  });
});

it('a wait that ends for another reason fails for its own requirement, also after a fault', async () => {
  const inbox = new Inbox();
  inbox.end('the connection was closed');
  inbox.end('no frame', 'FRAME-018');
  await expect(inbox.take(waitFor('PUBLISH-001'))).rejects.toMatchObject({
    broken: undefined,
    clause: 'PUBLISH-001',
  });
});
