// What is fuzzed: something that takes the frames of a case and says what is wrong with what it makes of them.

export type FuzzTarget = {
  /** What is wrong, in one sentence; undefined when nothing is. Throws, or never comes back, when the code under test does. */
  judge(frames: readonly Buffer[]): Promise<string | undefined>;
  /** Frees everything that the cases so far were allowed to leave, and says what stays all the same. */
  sweep(): Promise<string | undefined>;
  close(): Promise<void>;
};

export const targetNames = ['codec', 'gateway', 'socket'] as const;

export type TargetName = (typeof targetNames)[number];
