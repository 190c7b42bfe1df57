// The JSON of admin commands: what is read from a peer, and that anything of another form is refused as a whole.

import { describe, expect, it } from 'vitest';
import { QueueOperation } from '../model/access.ts';
import { accessEntryJson, operationNames, readAccessList, readOperations, readUsers } from './admin-json.ts';

const { Publish, Subscribe } = QueueOperation;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('a list of operations', () => {
  it.each([
    [[], []],
    [['Publish'], [Publish]],
    [
      ['sUBSCRIBE', Publish],
      [Subscribe, Publish],
    ],
    [['Publish', Publish, 'publish'], [Publish]],
  ])('%j is read as %j', (value, operations) => {
    expect(readOperations(value)).toEqual(operations);
  });

  it.each([['Publish'], [undefined], [{ length: 0 }], [['Publish', 'Fly']], [[99]], [[null]]])(
    '%j is refused',
    (value) => {
      expect(readOperations(value)).toBeUndefined();
    },
  );

  it('is written with names', () => {
    expect(operationNames([Subscribe, Publish])).toEqual(['Subscribe', 'Publish']);
    expect(accessEntryJson({ queuePattern: 'orders.*', operations: [Publish] })).toEqual({
      queuePattern: 'orders.*',
      operations: ['Publish'],
    });
  });
});

describe('an access list', () => {
  it('is read with all its entries, in order', () => {
    const entries = [
      { queuePattern: 'orders.*', operations: ['Publish'] },
      { queuePattern: '*', operations: [] },
    ];
    expect(readAccessList(json(entries))).toEqual([
      { queuePattern: 'orders.*', operations: [Publish] },
      { queuePattern: '*', operations: [] },
    ]);
    expect(readAccessList(json([]))).toEqual([]);
  });

  it.each([
    [{}],
    [null],
    [[null]],
    [['orders']],
    [[{ queuePattern: 1, operations: [] }]],
    [[{ queuePattern: 'orders', operations: ['Fly'] }]],
    [[{ queuePattern: 'orders' }]],
    [[{ queuePattern: 'orders', operations: [] }, { operations: [] }]],
  ])('%j is refused', (value) => {
    expect(readAccessList(json(value))).toBeUndefined();
  });

  it('that is no JSON is refused', () => {
    expect(readAccessList(Buffer.from('[{'))).toBeUndefined();
  });
});

describe('a list of users', () => {
  const ada = { username: 'ada', isSuperuser: true, createdAt: 1_700_000_000 };
  const bob = { username: 'bob', isSuperuser: false, createdAt: 0 };

  it('is read with all its users, in order, and without what else they have', () => {
    expect(readUsers(json([{ ...ada, color: 'green' }, bob]))).toEqual([ada, bob]);
  });

  it.each([
    [[{ ...ada, username: 1 }]],
    [[{ ...ada, isSuperuser: 'true' }]],
    [[{ ...ada, createdAt: '0' }]],
    [[ada, {}]],
    [ada],
  ])('%j is refused', (value) => {
    expect(readUsers(json(value))).toBeUndefined();
  });
});
