// A real link to a place of the page: a plain click stays in the page, every other click is the browser's.

import type { AnchorHTMLAttributes, ComponentChildren } from 'preact';
import { formatPlace, type Place } from '../url-state.ts';
import { usePage } from './page-context.ts';

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick' | 'role'> & {
  readonly to: Place;
  readonly children: ComponentChildren;
  readonly isReplacing?: boolean;
};

export function Link({ to, children, isReplacing = false, ...rest }: LinkProps) {
  const { navigation } = usePage();
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigation.go(to, { isReplacing });
  };
  return (
    <a {...rest} href={formatPlace(to)} onClick={follow}>
      {children}
    </a>
  );
}
