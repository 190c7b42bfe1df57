// Backpressure: a fast source and a slow subscriber do not fill the memory of the publisher or the broker. The queue holds 100 readings; when it
// is full the broker lets the publisher wait. The publisher has at most 50 readings under way, and reads no more from its source before one of them
// is confirmed.

import { connect } from 'truemq/client';

type Reading = { readonly number: number };

const url = process.argv[2] ?? 'vibemq://127.0.0.1';
const publisher = await connect(url, { publishWindow: { maxCount: 50 } });
const subscriber = await connect(url);
await publisher.createQueue('readings', { maxQueueSize: 100, overflowStrategy: 'BlockPublisher' });

const READING_COUNT = 600;
let readCount = 0;
let handledCount = 0;
let largestLead = 0;

/** The source: a file, a database, a sensor. It is asked for the next reading when there is room for it. */
function* readings(): Generator<Reading> {
  for (let number = 1; number <= READING_COUNT; number += 1) {
    readCount += 1;
    largestLead = Math.max(largestLead, readCount - handledCount);
    yield { number };
  }
}

// The broker sends 10 readings before it waits for an ack. (A broker that does not announce maxInFlight uses a window of its own.)
const allHandled = new Promise<void>((resolve) => {
  const handle = async () => {
    await new Promise((next) => setTimeout(next, 1));
    handledCount += 1;
    if (handledCount === READING_COUNT) resolve();
  };
  subscriber.subscribe<Reading>('readings', handle, { maxInFlight: 10 }).catch(console.error);
});

const publishedCount = await publisher.publishAll('readings', readings());
await allHandled;
console.log(`published ${publishedCount}, handled ${handledCount}`);
console.log(`the source was at most ${largestLead} readings ahead`);
await publisher.close();
await subscriber.close();
