// Faults in negative acknowledgment. Areas: NACK, DELIVERY.
import type { Mutant } from './mutant.ts';

const attempts = 'src/broker/attempts.ts';
const commands = 'src/gateway/translate/commands.ts';
const isForGood = "  const isForGood = reason === 'DeserializationError';";

export const negativeAcksMutants: readonly Mutant[] = [
  {
    id: 'negative-ack-is-an-ack',
    title: 'an Ack with header failureReason settles the message',
    file: commands,
    find: "  if (reason === undefined) return { kind: 'acknowledge', ...named };",
    replace: "  if (reason !== '') return { kind: 'acknowledge', ...named };",
    mustFail: ['NACK-001a', 'NACK-005a'],
    mayFail: ['NACK-003a', 'NACK-004a', 'NACK-006a', 'NACK-007a', 'NACK-008a'],
  },
  {
    id: 'negative-ack-waits-for-the-timeout',
    title: 'the next attempt comes no sooner after a refusal than after silence',
    file: attempts,
    find: '      if (!hasFailed) this.#failed(delivery, reason, this.#step.now);',
    replace:
      '      if (!hasFailed) this.#failed(delivery, reason, this.#step.now + this.#settings.ackTimeoutMs);',
    mustFail: ['NACK-003a'],
    mayFail: ['NACK-007a', 'NACK-001a', 'NACK-004a', 'NACK-008a'],
  },
  {
    id: 'negative-ack-without-pause',
    title: 'the next attempt comes at once after a refusal',
    file: attempts,
    find: '      if (!hasFailed) this.#failed(delivery, reason, this.#step.now);',
    replace:
      '      if (!hasFailed) this.#failed(delivery, reason, this.#step.now - this.#settings.retryDelayMs * 8);',
    mustFail: ['NACK-003a'],
  },
  {
    id: 'negative-ack-unknown-is-for-good',
    title: 'an unknown failureReason dead-letters at once',
    file: commands,
    find: isForGood,
    replace: "  const isForGood = reason !== 'HandlerException';",
    mustFail: ['NACK-004a'],
  },
  {
    id: 'negative-ack-never-for-good',
    title: 'a message that cannot be read is sent again',
    file: commands,
    find: isForGood,
    replace: '  const isForGood = false;',
    mustFail: ['NACK-005a', 'DELIVERY-008a'],
    mayFail: ['NACK-007a'],
  },
  {
    id: 'negative-ack-reason-sticks',
    title: 'a message that was refused once is dead-lettered for that, whatever failed last',
    file: attempts,
    find: "    if (!hasFailed) this.#countFailure(delivery);\n    this.#end(delivery, { kind: 'failed', reason });",
    replace:
      "    if (!hasFailed) this.#countFailure(delivery);\n    this.#end(delivery, { kind: 'failed', reason: delivery.failedAttempts > 1 ? 'HandlerException' : reason });",
    mustFail: ['NACK-007a'],
  },
  {
    id: 'negative-ack-of-nothing-answered',
    title: 'a negative acknowledgment of what is not in flight is answered by an Error',
    file: 'src/broker/broker.ts',
    find: '    if (delivery === undefined) return;\n    if (input.kind',
    replace: `    if (delivery === undefined && input.kind === 'negativeAcknowledge') {
      const token = { command: 30, id: input.id, queue: '' } as never;
      return this.#step.refuse(input.connection, token, 'QUEUE_NOT_FOUND', 'Nothing of that id is in flight.');
    }
    if (delivery === undefined) return;
    if (input.kind`,
    mustFail: ['NACK-009a', 'NACK-010a'],
  },
];
