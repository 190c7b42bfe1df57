// The model takes a delivery for the message that was published when the payload is the same JSON value, and says so when the bytes
// are others.
import { describe, expect, it } from 'vitest';
import { contentDifferences, isSameContent } from './content.ts';
import type { SeenDelivery } from './delivery.ts';
import type { ModelMessage } from './state.ts';

function message(payload: string): ModelMessage {
  return { content: { id: 'm', payload, headers: {}, priority: 1 }, sentCount: 0 } as unknown as ModelMessage;
}

function delivery(payload: string): SeenDelivery {
  return { connection: 1, queue: 'q', id: 'm', payload, headers: new Map(), at: 1 };
}

describe('the content of a delivery', () => {
  it('may be written in another way, which differs from what is recommended', () => {
    const published = message('{"n":1.50,"of":"a"}');
    const seen = delivery(' {"of" : "\\u0061", "n" : 15e-1}');
    expect(isSameContent(published, seen)).toBe(true);
    const differences = contentDifferences(published, seen, { countsSendings: false });
    expect(differences.map(({ clause }) => clause)).toEqual(['DELIVERY-054']);
  });

  it.each([
    ['9007199254740993', '9007199254740992'],
    ['1e400', 'null'],
    ['', 'null'],
  ])('is not that of the message when %s becomes %s', (published, came) => {
    expect(isSameContent(message(published), delivery(came))).toBe(false);
  });
});
