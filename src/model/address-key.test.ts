// Which addresses are counted together.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressKey } from './address-key.ts';

describe('the key of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['', ''],
    ['somewhere', 'somewhere'],
    ['line%1', 'line%1'],
  ])('of %j is %j [LIMIT-025]', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  const group = fc.integer({ min: 0, max: 0xffff });
  const groups = fc.array(group, { minLength: 8, maxLength: 8 });
  const text = (values: readonly number[]) => values.map((value) => value.toString(16)).join(':');
  /** The shortest text: the longest run of zeros left out. */
  const compressed = (values: readonly number[]) => new URL(`http://[${text(values)}]`).hostname.slice(1, -1);

  it('is the same for two IPv6 addresses if and only if their first 64 bits are [LIMIT-025]', () => {
    fc.assert(
      fc.property(groups, groups, fc.integer({ min: 0, max: 8 }), (one, drawn, sharedCount) => {
        const other = [...one.slice(0, sharedCount), ...drawn.slice(sharedCount)];
        const [first, second] = [one, other].map((each) => each.slice(0, 4).join());
        fc.pre(!text(one).startsWith('0:0:0:0:0:ffff') && !text(other).startsWith('0:0:0:0:0:ffff'));
        return (addressKey(text(one)) === addressKey(text(other))) === (first === second);
      }),
    );
  });

  it('does not depend on how the address is written', () => {
    const sparse = fc.array(fc.oneof(fc.constant(0), group), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(sparse, fc.boolean(), (values, upper) => {
        const written = upper ? compressed(values).toUpperCase() : compressed(values);
        return addressKey(`${written}%7`) === addressKey(text(values));
      }),
    );
  });
});
