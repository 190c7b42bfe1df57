// Which part of a queue's messages a request asks for. Bad values never fail: a page is looked at by people, who change numbers in the address
// line. Pure. Implements DASH-010 to DASH-013.

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;

export type PageQuery = { readonly limit: number; readonly offset: number };

/** `limit` is clamped to 1 .. 100, `offset` to 0 and more; what is no whole number counts as absent. */
export function pageQuery(parameters: URLSearchParams): PageQuery {
  const limit = wholeNumber(parameters.get('limit')) ?? DEFAULT_LIMIT;
  const offset = wholeNumber(parameters.get('offset')) ?? 0;
  return { limit: Math.min(Math.max(limit, 1), MAX_LIMIT), offset: Math.max(offset, 0) };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
