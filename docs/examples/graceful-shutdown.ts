// Graceful shutdown: at SIGTERM or SIGINT a worker takes no more jobs, finishes the one that it has begun, and then disconnects. No job is lost and
// none is done twice; those that it did not begin go to other workers.

import { connect } from 'truemq/client';

type Job = { readonly name: string };

const client = await connect(process.argv[2] ?? 'vibemq://127.0.0.1');
let current: Promise<void> = Promise.resolve();

async function work(name: string): Promise<void> {
  console.log('began', name);
  await new Promise((finish) => setTimeout(finish, 200));
  console.log('finished', name);
}

async function stop(): Promise<void> {
  await client.unsubscribe('jobs');
  await current;
  // Sends the ack of the last job, then Disconnect.
  await client.close();
  console.log('disconnected');
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  // Once: a second signal ends the process immediately.
  process.once(signal, () => {
    stop().catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
  });
}

// With one job in flight the client holds no jobs that it has not begun.
await client.subscribe<Job>(
  'jobs',
  (message) => {
    current = work(message.json().name);
    return current;
  },
  { maxInFlight: 1 },
);
console.log('ready');
