// Priorities: of the messages that wait, the most urgent is delivered first. Within a priority they keep their order.

import { connect } from 'truemq/client';

type Alert = { readonly text: string };

const client = await connect(process.argv[2] ?? 'vibemq://127.0.0.1');
await client.createQueue('alerts', { mode: 'PriorityBased' });

await client.publish<Alert>('alerts', { text: 'a disk is nearly full' }, { priority: 'High' });
await client.publish<Alert>('alerts', { text: 'the weekly report is ready' }, { priority: 'Low' });
await client.publish<Alert>('alerts', { text: 'the cellar is on fire' }, { priority: 'Critical' });
// Without a priority a message is Normal.
await client.publish<Alert>('alerts', { text: 'a certificate expires in a month' });

// One at a time: what the broker has sent already, a more urgent message cannot overtake any more.
let handledCount = 0;
for await (const message of client.messages<Alert>('alerts', { maxInFlight: 1, ack: 'manual' })) {
  console.log(`${message.headers.get('priority') ?? 'Normal'}: ${message.json().text}`);
  message.ack();
  handledCount += 1;
  if (handledCount === 4) break;
}
await client.close();
