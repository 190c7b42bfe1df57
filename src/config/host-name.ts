// Which names and addresses a request can have in its Host header. Pure.

/** A name, or an IP address: that of version 6 also in brackets. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*|\[?[\da-f]*:[\da-f]*:[\da-f:.]*(?:%[\w.-]+)?\]?)$/i;

/** Whether the text is a host name in ASCII, without a dot at its end, or an IP address. */
export function isHostName(text: string): boolean {
  return HOST.test(text);
}
