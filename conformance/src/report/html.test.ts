// The HTML page: one file that asks nobody for anything, holds everything, and lets nothing out of a broker's texts.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  colourfulLog,
  hostileResult,
  interruptedLog,
  sampleLog,
  sampleResult,
} from '../testing/sample-log.ts';
import { reportHtml } from './html.ts';

const page = reportHtml(colourfulLog());

function contentOf(name: 'style' | 'script', text = page): string {
  return new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1] ?? '';
}

describe('the HTML page', () => {
  it('asks nobody for anything: no address outside it, and a policy that would refuse one', () => {
    expect(page).not.toMatch(/(src|href|url)\s*[=(]\s*["']?(https?:)?\/\//i);
    expect(page).not.toContain('@import');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    for (const name of ['style', 'script'] as const) {
      const hash = createHash('sha256').update(contentOf(name)).digest('base64');
      expect(policy).toContain(`${name}-src 'sha256-${hash}'`);
    }
    expect(page).not.toMatch(/ style="| on\w+="/);
  });

  it('has colours for both schemes', () => {
    expect(contentOf('style')).toContain('prefers-color-scheme: dark');
    expect(page).toContain('name="color-scheme" content="light dark"');
  });

  it('has every check with its outcome under its id, and what is not right unfolded', () => {
    for (const { id, outcome } of colourfulLog().results) {
      const open = outcome === 'fail' || outcome === 'error' ? ' open' : '';
      const line = new RegExp(
        `<details class="check" id="${id}" data-outcome="${outcome}" data-words="[^"]*"${open}>`,
      );
      expect(page).toMatch(line);
    }
    const again = sampleResult('CONN-001a', 'pass', { repetition: 2 });
    expect(reportHtml(sampleLog([sampleResult('CONN-001a', 'pass'), again]))).toContain('id="CONN-001a.2"');
  });

  it('shows what explains a failure', () => {
    for (const text of [
      'The sentence of CONN-001.',
      'a song',
      'a hum',
      '<span>00000002</span> <span>00</span> <span>ff</span>',
      '&lt;/script',
      'second line',
      'truemq-conformance run --target t.yaml --only CONN-001a --seed 7',
    ])
      expect(page.includes(text), text).toBe(true);
  });

  it('lets nothing out of a hostile text', () => {
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).not.toContain('<img');
    expect(page).toContain('\\u001b[2J\\u0000\\u202e\\ud800\\uffff');
  });

  it('stays a page when a broker talks without end', () => {
    const long = 'x'.repeat(1_000_000);
    const event = {
      atMs: 1,
      connection: 'A',
      kind: 'sent',
      text: long,
      hex: 'ab'.repeat(1_000_000),
      byteCount: 1_000_000,
    } as const;
    const result = {
      ...hostileResult('CONN-001a'),
      actual: long,
      trace: Array.from({ length: 1000 }, () => event),
    };
    const text = reportHtml(sampleLog([result]));
    expect(text.length).toBeLessThan(2_000_000);
    expect(text).toContain('last 200 of 1000 events');
  });

  it('says of an interrupted run that it is one', () => {
    const text = reportHtml(interruptedLog());
    expect(text).toContain('tiny is NOT SHOWN to be conformant');
    expect(text).toContain('The event log has no end');
    expect(text).toContain('verdict undetermined');
  });

  it('has a script that a browser can read', () => {
    expect(() => new Function(contentOf('script'))).not.toThrow();
  });
});
