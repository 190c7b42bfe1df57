// A work queue: each job goes to one worker. A job that fails is tried again, after a longer pause each time. After three failed attempts it is a
// dead letter, and another handler looks at it.

import { connect } from 'truemq/client';

type Job = { readonly image: string };

// Called with each error of a handler; without it the process prints a warning.
const onHandlerError = (error: unknown) => console.log('failed:', (error as Error).message);
// The client creates the queue if it is missing. Dead letters go to thumbnails.dlq, unless deadLetterQueueName says otherwise.
const queues = [{ name: 'thumbnails', enableDeadLetterQueue: true, maxRetryAttempts: 3 }];
const client = await connect(process.argv[2] ?? 'vibemq://127.0.0.1', { queues, onHandlerError });

// The worker. Start as many processes with it as you need: the broker distributes the jobs. A job is acknowledged when the handler has succeeded.
await client.subscribe<Job>('thumbnails', async (message) => {
  const { image } = message.json();
  if (image === 'broken.png') throw new Error(`attempt ${message.attemptCount} to read ${image}`);
  console.log('made a thumbnail of', image);
});

// The publisher. Each promise is fulfilled when the broker has taken responsibility for the job.
for (const image of ['one.png', 'broken.png', 'two.png']) await client.publish<Job>('thumbnails', { image });

// The handler of dead letters.
for await (const message of client.messages<Job>('thumbnails.dlq', { ack: 'manual' })) {
  console.log('gave up on', message.json().image);
  message.ack();
  break;
}
await client.close();
