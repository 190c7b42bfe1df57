// Which words of the catalogue follow a renaming in the code.
import { expect, it } from 'vitest';
import { renameInFaults } from './rename.ts';

const text = `# What ack is about.
- id: ack-x
  title: an ack is lost
  find: |-
    this.#ack(acked, $ack);
    ack: 1
  within: Broker.ack
  replace: ''
  runner:
    # An ack, again.
    mustFail: [ack]
`;

it('renames whole words in the texts of code and nowhere else', () => {
  expect(renameInFaults(text, 'ack', '$&settle')).toEqual({
    text: text
      .replace('this.#ack(', () => 'this.#$&settle(')
      .replace('    ack: 1', () => '    $&settle: 1')
      .replace('Broker.ack', () => 'Broker.$&settle'),
    count: 3,
  });
});

it('takes signs in a name as they are', () => {
  expect(renameInFaults(text, 'Broker.ack', 'Core.ack').count).toBe(1);
  expect(renameInFaults(text, 'Broker-ack', 'x')).toEqual({ text, count: 0 });
});
