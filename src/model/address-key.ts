// The key under which the broker counts an address: one host, one key. An IPv4 address is its own key, also when it is mapped to IPv6
// (::ffff:192.0.2.1). An IPv6 address counts as its /64 prefix, because one host usually has a whole /64 to itself. Implements LIMIT-025.

const GROUP_COUNT = 8;
const PREFIX_GROUP_COUNT = 4;

/** A text that is no IPv6 address is its own key. */
export function addressKey(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const groups = groupsOf(plain);
  if (groups === undefined) return address;
  if (isIpv4Mapped(groups)) return ipv4Of(groups);
  const prefix = groups.slice(0, PREFIX_GROUP_COUNT).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}

/** The eight 16-bit groups of an IPv6 address; undefined if the text is not a valid one. */
function groupsOf(address: string): readonly number[] | undefined {
  const url = `http://[${address}]`;
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(url)) return undefined;
  // The parser of URLs writes every group in hexadecimal, also those of ::ffff:192.0.2.1.
  const [head = '', tail] = new URL(url).hostname.slice(1, -1).split('::');
  const before = parseGroups(head);
  if (tail === undefined) return before;
  const after = parseGroups(tail);
  const zeros = Array<number>(GROUP_COUNT - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

function parseGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function isIpv4Mapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

function ipv4Of(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
