// Compares a frame of a trace with the frame that came in its place. Not compared: the order of headers, the compression, the text of an
// error, points in time, ids that the broker chose itself, and what it says of itself in ConnectAck. Pure. Areas: BODY.
import { display } from '../expectation.ts';
import { isSameJson, jsonForm } from '../json-value.ts';
import { Command } from '../wire/command.ts';
import { decodeBody, WireFault } from '../wire/decode.ts';
import type { DecodedBody } from '../wire/frame.ts';
import { FrameReader } from '../wire/frame-reader.ts';

const maxFrameBytes = 2 ** 32 - 1;

/** The frames at the start of these bytes, and whether nothing follows them. */
export function framesIn(bytes: Buffer): {
  readonly frames: readonly DecodedBody[];
  readonly isWhole: boolean;
} {
  const reader = new FrameReader(maxFrameBytes);
  reader.push(bytes);
  const frames: DecodedBody[] = [];
  try {
    for (let raw = reader.next(); raw !== undefined; raw = reader.next()) frames.push(decodeBody(raw.body));
    return { frames, isWhole: reader.partial.length === 0 };
  } catch (error) {
    if (error instanceof WireFault) return { frames, isWhole: false };
    throw error;
  }
}

/** The frame in these bytes; undefined unless they are exactly one frame. */
export function wholeFrame(bytes: Buffer): DecodedBody | undefined {
  const { frames, isWhole } = framesIn(bytes);
  return isWhole && frames.length === 1 ? frames[0] : undefined;
}

/** Headers of ConnectAck that are different for each broker and connection. */
const ownHeaders: readonly string[] = ['serverVersion', 'connectionId'];

/**
 * What differs, in the order of the body: `payload.messageCount: 2 instead of 1`. `isChosen`: whether the client chose this id.
 */
export function differences(
  then: DecodedBody,
  now: DecodedBody,
  isChosen: (id: string) => boolean,
): readonly string[] {
  if (then.command !== now.command) return [`${now.commandName} instead of ${then.commandName}`];
  const idDiffers = then.id !== now.id && (isChosen(then.id) || isChosen(now.id));
  return [
    ...(idDiffers ? [difference('id', then.id, now.id)] : []),
    ...(then.queue === now.queue ? [] : [difference('queue', then.queue, now.queue)]),
    ...payloadDifferences(then.payload, now.payload),
    ...headerDifferences(then, now, isChosen),
    ...(then.errorCode === now.errorCode ? [] : [difference('errorCode', then.errorCode, now.errorCode)]),
  ];
}

function difference(name: string, then: unknown, now: unknown): string {
  return `${name}: ${display(now, shownLength)} instead of ${display(then, shownLength)}`;
}

const shownLength = 60;

function payloadDifferences(then: Buffer, now: Buffer): readonly string[] {
  if (isSamePayload(then, now)) return [];
  const [membersThen, membersNow] = [membersOf(then), membersOf(now)];
  if (membersThen === undefined || membersNow === undefined)
    return [difference('payload', then.toString('utf8'), now.toString('utf8'))];
  const names = new Set([...membersThen.keys(), ...membersNow.keys()]);
  return [...names]
    .filter((name) => !isSamePayload(member(membersThen, name), member(membersNow, name)))
    .map((name) => difference(`payload.${name}`, membersThen.get(name), membersNow.get(name)));
}

/** The members of a JSON object; undefined for another payload. */
function membersOf(payload: Buffer): ReadonlyMap<string, unknown> | undefined {
  if (jsonForm(payload)?.startsWith('{') !== true) return undefined;
  return new Map(Object.entries(JSON.parse(payload.toString('utf8')) as object));
}

function member(members: ReadonlyMap<string, unknown>, name: string): Buffer {
  return Buffer.from(members.has(name) ? JSON.stringify(members.get(name)) : '');
}

function isSamePayload(then: Buffer, now: Buffer): boolean {
  return isSameJson(then, now) || isSameJson(withoutTimes(then), withoutTimes(now));
}

const pointInTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;

/** Read as single bytes, so that bytes that are not UTF-8 stay different. */
function withoutTimes(bytes: Buffer): string {
  return bytes.toString('latin1').replace(pointInTime, 'a point in time');
}

function headerDifferences(
  then: DecodedBody,
  now: DecodedBody,
  isChosen: (id: string) => boolean,
): readonly string[] {
  const names = new Set([...then.headers, ...now.headers].map(([name]) => name));
  const isOwn = (name: string): boolean => then.command === Command.ConnectAck && ownHeaders.includes(name);
  return [...names].flatMap((name) => {
    const [before, after] = [valuesOf(then, name), valuesOf(now, name)];
    if (isOwn(name) || isSameHeader(before, after, isChosen)) return [];
    return [difference(`header ${name}`, shownValues(before), shownValues(after))];
  });
}

function valuesOf({ headers }: DecodedBody, name: string): readonly string[] {
  return headers.filter(([key]) => key === name).map(([, value]) => value);
}

/** Almost every header occurs once. */
function shownValues(values: readonly string[]): unknown {
  return values.length <= 1 ? values[0] : values;
}

const generatedId = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

function isSameHeader(
  then: readonly string[],
  now: readonly string[],
  isChosen: (id: string) => boolean,
): boolean {
  const isGenerated = (value: string): boolean => generatedId.test(value) && !isChosen(value);
  return (
    then.length === now.length &&
    then.every((value, index) => {
      const other = now[index] ?? '';
      const isSame = withoutTimes(Buffer.from(value)) === withoutTimes(Buffer.from(other));
      return isSame || (isGenerated(value) && isGenerated(other));
    })
  );
}
