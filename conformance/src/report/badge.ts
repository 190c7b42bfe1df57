// The verdict as a badge: an SVG, and the JSON for shields.io. Only a whole and finished run is shown as conformant, with its profiles; a
// partial or undetermined run has other words and another colour.

import type { RunLog } from './event-log.ts';
import { verdictOfLog } from './event-log.ts';
import { markupText } from './visible-text.ts';

type Badge = { readonly label: string; readonly message: string; readonly color: string };

const colors = { good: '#2e7d32', partly: '#8a6d00', bad: '#b3261e', open: '#5f6368' } as const;

export function badgeOf(log: RunLog): Badge {
  const { status, partial } = verdictOfLog(log);
  const label = 'conformance';
  switch (status) {
    case 'not conformant':
      return { label, message: 'not conformant', color: colors.bad };
    case 'undetermined':
      return { label, message: 'not shown', color: colors.open };
    case 'conformant':
      return partial
        ? { label, message: 'conformant in part', color: colors.partly }
        : { label, message: `conformant: ${log.header.target.profiles.join(', ')}`, color: colors.good };
  }
}

/** The endpoint JSON of shields.io. */
export function badgeJson(log: RunLog): string {
  const { color, ...badge } = badgeOf(log);
  return `${JSON.stringify({ schemaVersion: 1, ...badge, color: color.slice(1) })}\n`;
}

export function badgeSvg(log: RunLog): string {
  const { label, message, color } = badgeOf(log);
  const left = widthOf(label) + 12;
  const right = widthOf(message) + 12;
  const title = markupText(`${label}: ${message}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">
  <title>${title}</title>
  <clipPath id="corners"><rect width="${left + right}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#corners)">
    <rect width="${left}" height="20" fill="#3c4043"/>
    <rect x="${left}" width="${right}" height="20" fill="${color}"/>
  </g>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
    ${textElement(label, left / 2)}
    ${textElement(message, left + right / 2)}
  </g>
</svg>
`;
}

function textElement(text: string, x: number): string {
  return `<text x="${x}" y="14" textLength="${widthOf(text)}">${markupText(text)}</text>`;
}

/** The approximate width of the text; the SVG fits the text to it. */
function widthOf(text: string): number {
  const widths = [...text].map((character) => {
    if ('fijlrt.,:;!|()[] '.includes(character)) return 4.3;
    return 'mwMW@%'.includes(character) ? 10.4 : 6.8;
  });
  return Math.round(widths.reduce((sum, width) => sum + width, 0));
}
