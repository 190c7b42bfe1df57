// Writes fixtures/storage/existing-broker.db: a small database of an existing broker, with queues of several kinds, waiting messages and dead
// letters. To be run once; an existing fixture is never overwritten.
//   node --import import tsx src/testing/existing-fixture.ts

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  existingDeadLetter,
  existingMessage,
  existingQueue,
  type GivenRow,
  writeExistingDatabase,
} from './existing-database.ts';

const path = fileURLToPath(new URL('../../fixtures/storage/existing-broker.db', import.meta.url));
if (existsSync(path)) throw new Error(`${path} is there already.`);
await writeExistingDatabase(path, {
  queues: [
    existingQueue('orders', { enableDeadLetterQueue: true, maxRetryAttempts: 5 }),
    existingQueue('alarms', { mode: 3, messageTtl: '3650.00:00:00', overflowStrategy: 1, maxQueueSize: 100 }),
    existingQueue('rapports.été', { mode: 1, enableDeadLetterQueue: true, deadLetterQueueName: 'rejected' }),
    existingQueue('rejected', { maxQueueSize: 50 }),
  ],
  messages: messages(),
  deadLetters: [
    existingDeadLetter('o-dead', { headers: { correlationId: 'c-9' }, deliveryAttempts: 5 }),
    existingDeadLetter('r-dead', { queueName: 'rapports.été', priority: 2 }, { reason: 3 }),
  ],
});

/** The rows stand in another order than that of their times. */
function messages(): readonly GivenRow[] {
  const at = (ticks: number) => ({ timestamp: `2026-02-18T10:31:00.${String(ticks).padStart(7, '0')}Z` });
  const headers = JSON.stringify({ correlationId: 'c-1', 'x-größe': 'ä' });
  return [
    existingMessage('o-2', { ...at(12), headers_json: headers }),
    existingMessage('o-1', { ...at(11), payload_json: '{"price":1.50,"n":12345678901234567890}' }),
    existingMessage('o-3', { ...at(12), delivery_attempts: 2, payload_json: null }),
    existingMessage('a-1', {
      ...at(1),
      queue_name: 'alarms',
      priority: 0,
      headers_json: '{"priority":"Low"}',
    }),
    existingMessage('a-2', {
      ...at(2),
      queue_name: 'alarms',
      priority: 3,
      headers_json: '{"priority":"critical"}',
    }),
    existingMessage('r-1', { ...at(3), queue_name: 'rapports.été', payload_json: '"texte"' }),
  ];
}
