// Plans that show a defect of the broker that is not mended yet. They are not run; an entry goes when the defect does.

export const knownDefects: ReadonlyMap<number, string> = new Map([
  [31, 'a merged cursor of FanOutWithAck keeps a message that was purged'],
  [33, 'a survivor of a recovery keeps a block of 64 KiB'],
]);
