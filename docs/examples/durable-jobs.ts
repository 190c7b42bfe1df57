// Durable jobs: they survive a restart of the broker, which needs a store: truemq serve --storage sqlite. A job that is published twice with the
// same id while it waits exists once, so that a publisher may repeat what it is not sure of.
//
// durable-jobs.ts URL add     publishes the jobs
// durable-jobs.ts URL work    handles them, also after a restart

import { connect } from 'truemq/client';

type Invoice = { readonly customer: string };

const [url = 'vibemq://127.0.0.1', command = 'add'] = process.argv.slice(2);
const client = await connect(url);
const customers = ['ann', 'bob'];

if (command === 'add') {
  for (const customer of [...customers, 'ann']) {
    // The id says what the job is. The promise is fulfilled when the broker has saved the job to disk.
    const id = await client.publish<Invoice>('invoices', { customer }, { id: `2026-11-${customer}` });
    console.log('saved', id);
  }
} else {
  let handledCount = 0;
  // Acknowledged when the loop asks for the next message: if this process crashes before, the broker sends the job again.
  for await (const message of client.messages<Invoice>('invoices', { ack: 'manual' })) {
    console.log('sent the invoice', message.id, 'to', message.json().customer);
    message.ack();
    handledCount += 1;
    if (handledCount === customers.length) break;
  }
}
await client.close();
