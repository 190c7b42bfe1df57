// Requirements are found where tests and scenarios name them, and nowhere else.
import { expect, it } from 'vitest';
import { requirementsNamedIn } from './naming-files.ts';

it('finds them in the brackets of a title', () => {
  const text = "it('reads [FRAME-001, BODY-002]', ..); // FRAME-003";
  expect([...requirementsNamedIn(text, 'unit')]).toEqual(['FRAME-001', 'BODY-002']);
});

it('finds them among the tags of a scenario', () => {
  const text = '  @FRAME-001 @BODY-002\n  Scenario: FRAME-003 is not a tag\n';
  expect([...requirementsNamedIn(text, 'features')]).toEqual(['FRAME-001', 'BODY-002']);
});
