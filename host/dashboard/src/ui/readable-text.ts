// Whether names and values show everything that the JSON text says.

/**
 * A browser rounds large numbers, keeps the last of two fields with one name and puts fields that are named by numbers
 * first. A text that does not come back as it was is shown as text.
 */
export function isReadable(value: unknown, text: string): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && JSON.stringify(value, null, 2) === text;
}
