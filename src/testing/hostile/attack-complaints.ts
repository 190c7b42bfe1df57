// What must hold after an attack, whatever the machine: the broker lives and ends in good order, the normal workload is done, the memory is
// within the limits. Times are not judged.

import { type AttackResult, BOUND_BYTES } from './run-attack.ts';

export function attackComplaints(
  { alone, control, beside, deeds, exitCode, residentBytes }: AttackResult,
  messageCount: number,
): readonly string[] {
  const rounds = [alone, ...(control === undefined ? [] : [control]), beside].flatMap(
    ({ confirmedCount, receivedCount }) => [confirmedCount, receivedCount],
  );
  return [
    ...(exitCode === 0 ? [] : [`the broker ended with ${exitCode}`]),
    ...(rounds.every((count) => count === messageCount)
      ? []
      : [`of ${messageCount} messages ${rounds.join(', ')} were confirmed and received`]),
    ...(residentBytes <= BOUND_BYTES
      ? []
      : [`the broker took ${residentBytes} bytes of memory, over ${BOUND_BYTES}`]),
    ...(deeds.connections > 0 ? [] : ['the attack did nothing']),
  ];
}
