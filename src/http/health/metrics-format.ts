// The choice between the metrics as JSON and as text for Prometheus, and how many queues the text shows. Must not load what writes the text.
// Implements METRICS-021.

/** `text`: version 0.0.4 of the format; `openmetrics`: version 1.0.0 of its successor. */
export type MetricsFormat = 'json' | 'text' | 'openmetrics';

const textFormats = { 'text/plain': 'text', 'application/openmetrics-text': 'openmetrics' } as const;

/** What an Accept header asks for: JSON, unless it names one of the text types and does not like JSON better. Wildcards ask for JSON. */
export function metricsFormatFor(accept: string | null): MetricsFormat {
  const ranges = (accept ?? '').split(',').map(readRange);
  const named = ranges.filter(isText).sort((a, b) => b.quality - a.quality);
  const [best] = named;
  if (best === undefined || best.quality === 0) return 'json';
  const ofJson = ranges.filter(({ type }) => type === 'application/json');
  const others =
    ofJson.length > 0 ? ofJson : ranges.filter(({ type }) => /^(?:application|\*)\/\*$/.test(type));
  const jsonQuality = Math.max(0, ...others.map(({ quality }) => quality));
  const isJsonLiked = ofJson.length > 0 ? jsonQuality >= best.quality : jsonQuality > best.quality;
  return isJsonLiked ? 'json' : textFormats[best.type];
}

type Range = { readonly type: string; readonly quality: number };
type TextRange = Range & { readonly type: keyof typeof textFormats };

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [, quality = '1'] =
    parameters.map((one) => /^q=(.*)$/.exec(one)).find((match) => match !== null) ?? [];
  return { type, quality: Number(quality) || 0 };
}

function isText(range: Range): range is TextRange {
  return range.type in textFormats;
}

/** The most queues that have figures of their own: a broker may have a hundred thousand, and a monitoring system keeps what it was ever told. */
export const MAX_SHOWN_QUEUES = 100;
