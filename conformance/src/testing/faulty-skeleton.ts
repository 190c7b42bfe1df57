// The skeleton with a fault under load, for tests of the measurements: `twice` delivers every hundredth message twice, `ends` ends its
// process at message 3000, after a last line in its log. Not in the package.
import { Relay } from '../../bench/skeleton/relay.ts';
import { serveSkeleton } from '../../bench/skeleton/skeleton.ts';

const fault = process.argv[2];
const queueOf = Relay.prototype.queue;

Relay.prototype.queue = function faultyQueue(this: Relay, name: string) {
  const queue = queueOf.call(this, name);
  const add = queue.add.bind(queue);
  const count = { added: 0 };
  queue.add = (message) => {
    count.added += 1;
    if (fault === 'ends' && count.added === 3000) endWithWords();
    add(message);
    if (fault === 'twice' && count.added % 100 === 0) add(message);
  };
  return queue;
};

function endWithWords(): never {
  process.stderr.write('out of cheese\u001b[2J\n');
  process.exit(42);
}

await serveSkeleton();
