// Names of arguments as words.

import { visible } from './visible';

/** `max_results` is Max results, `dueDate` is Due date. */
export function inWords(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' ').trim();
  if (words === '' || words === words.toUpperCase()) return visible(words || name);
  return visible(words.charAt(0).toUpperCase() + words.slice(1).toLowerCase());
}
